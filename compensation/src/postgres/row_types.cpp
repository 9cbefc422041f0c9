#include "postgres/row_types.hpp"

namespace atone::postgres {

result<row_types> find_row_types(session& on) {
  auto const found = on.run(
      "select to_regtype('atone.start_row')::oid, to_regtype('atone.record_row')::oid, to_regtype('atone.change_row_7')::oid, "
      "to_regtype('atone.compensation_row')::oid, to_regtype('atone.alert_row')::oid, to_regtype('atone.output_row')::oid, "
      "to_regtype('atone.action_row')::oid, to_regtype('atone.rest_row')::oid");
  if (!found) return found.error();
  row_types types;
  int column = 0;
  for (auto* const type :
       {&types.start, &types.record, &types.change, &types.compensation, &types.alert, &types.output, &types.action, &types.rest}) {
    auto const field = (*found)[0][column++];
    if (field.is_null()) {
      return error{errc::corrupt, "a type of Atone's schema is missing from the database; was it changed by hand?"};
    }
    *type = field.as<type_id>();
  }
  return types;
}

}  // namespace atone::postgres
