//! No line makes the reader panic, and what it takes for a request keeps its id when it is answered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tiro_daemon::rpc::message::{Incoming, read};
use tiro_daemon::rpc::request::answer_line;

fuzz_target!(|data: &[u8]| {
    match read(data) {
        Ok(Incoming::Request(request)) => {
            let line = answer_line(Some(&request.id), Ok(&true.into())).expect("an answer has a JSON form");
            assert!(line.ends_with(b"\n") && !line[..line.len() - 1].contains(&b'\n'));
        }
        Ok(_) => {}
        Err(refusal) => assert!(refusal.error.code <= -32100),
    }
});
