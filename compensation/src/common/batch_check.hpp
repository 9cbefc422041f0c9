// What every store checks of a batch before it touches a database, and which sagas a batch speaks of.
// Thread rules: plain functions.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include <atone/journal.hpp>

namespace atone {

// Size, ids, keys: exhausted (too many records), bad_data (no saga id, sequence 0, a path that is too long, a business key that is too
// long or no text).
result<void> check_batch(journal_batch const& batch);

// The sagas of a batch, each once, in the order in which they first appear.
std::vector<saga_id> sagas_of(journal_batch const& batch);

// The part of the batch that belongs to sagas for which `keep` holds.
journal_batch part_of(journal_batch const& batch, std::function<bool(saga_id)> const& keep);

// The refusals that read the same from every store.
error already_published(definition_ref const& ref);                 // conflict
error fenced_at(epoch writer, epoch current);                       // fenced
error wrong_batch_number(batch_number offered, batch_number last);  // invalid_argument

}  // namespace atone
