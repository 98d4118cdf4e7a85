//! The program `kusaw`: see the library.

fn main() {
    kusaw::start::prepare();
    std::process::exit(kusaw::cli::main())
}
