/// Readers of foreign bytes by the names of their corpora. Each takes any bytes and traps where something that has to hold does not.
///
/// `Tests/Fuzz/run` makes a program of libFuzzer of each; `make test` hands them mutated seeds.
enum FuzzTarget {}
