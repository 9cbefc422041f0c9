// A library that is no plug-in.
extern "C" int atone_something_else() {
  return 1;
}
