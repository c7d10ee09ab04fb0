//! `tiro`: the shell client. Everything it does stands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiro_client::cli::main()
}
