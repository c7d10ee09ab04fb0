//! Bytes in any pieces come out as the same lines as in one piece.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tiro_daemon::rpc::frame::FrameBuffer;

fn lines<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let (mut buffer, mut lines) = (FrameBuffer::default(), Vec::new());
    for piece in pieces {
        buffer.make_room().extend_from_slice(piece);
        while let Ok(Some(range)) = buffer.next_line() {
            lines.push(buffer.bytes()[range].to_vec());
        }
    }
    lines
}

fuzz_target!(|data: &[u8]| {
    let size = usize::from(data.first().copied().unwrap_or(1)).max(1);
    assert_eq!(lines(data.chunks(size)), lines(std::iter::once(data)));
});
