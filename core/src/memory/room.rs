//! Memory that is filled from its beginning to its end, each byte once.
//!
//! Large results are written into memory that nobody has cleared before. What is filled and what is not is kept here,
//! behind methods that cannot say more than was written.

use std::mem::MaybeUninit;

use crate::error::{Result, invalid};
use crate::memory::asking::need_exact_room;

/// A stretch of memory of which the beginning is filled.
#[derive(Debug)]
pub struct Room<'a> {
    all: &'a mut [MaybeUninit<u8>],
    /// Invariant: so many bytes at the beginning of `all` are initialised.
    filled: usize,
}

impl<'a> Room<'a> {
    /// Begins with nothing filled.
    #[must_use]
    pub fn new(all: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { all, filled: 0 }
    }

    /// How many bytes there is room for, filled or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is no room at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Fills the next bytes; says whether there was room for them.
    #[inline]
    #[must_use]
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.next(bytes.len()) else {
            return false;
        };
        for (to, &from) in room.iter_mut().zip(bytes) {
            to.write(from);
        }
        self.filled += bytes.len();
        true
    }

    /// Fills the next bytes with the first `length` of an array, which is copied as a whole; says whether there was
    /// room for all of it.
    #[inline]
    #[must_use]
    pub fn append_first<const N: usize>(&mut self, length: usize, from: &[u8; N]) -> bool {
        let Some(room) = self.all.get_mut(self.filled..) else {
            return false;
        };
        let Some(to) = room.first_chunk_mut::<N>() else {
            return false;
        };
        *to = from.map(MaybeUninit::new);
        self.filled += length.min(N);
        true
    }

    /// Fills the next bytes with little-endian numbers of 2 bytes, without what is above those; says whether there was
    /// room for them.
    #[inline]
    #[must_use]
    pub fn append_narrow(&mut self, numbers: &[u32]) -> bool {
        self.append_arrays(numbers, |number| (number as u16).to_le_bytes())
    }

    /// Fills the next bytes with little-endian numbers of 4 bytes; says whether there was room for them.
    #[inline]
    #[must_use]
    pub fn append_wide(&mut self, numbers: &[u32]) -> bool {
        self.append_arrays(numbers, u32::to_le_bytes)
    }

    #[inline]
    fn append_arrays<const N: usize>(
        &mut self,
        numbers: &[u32],
        array: impl Fn(u32) -> [u8; N],
    ) -> bool {
        let length = numbers.len() * N;
        let Some(room) = self.next(length) else {
            return false;
        };
        for (to, &number) in room.as_chunks_mut::<N>().0.iter_mut().zip(numbers) {
            *to = array(number).map(MaybeUninit::new);
        }
        self.filled += length;
        true
    }

    #[inline]
    fn next(&mut self, length: usize) -> Option<&mut [MaybeUninit<u8>]> {
        self.all.get_mut(self.filled..)?.get_mut(..length)
    }

    /// The bytes that are filled.
    #[must_use]
    pub fn filled(self) -> &'a mut [u8] {
        let filled = &mut self.all[..self.filled];
        // SAFETY: `filled` bytes at the beginning are initialised: only `append` and its like add to that number, by no
        // more than what they have just written from there on.
        unsafe { &mut *(std::ptr::from_mut(filled) as *mut [u8]) }
    }
}

/// Makes a list of a length that is known before; `fill` fills all of it.
///
/// # Errors
/// [`crate::Error::Memory`] when there is no such memory; those of `fill`; [`crate::Error::Invalid`] when it leaves something unfilled.
pub fn list_of_length(
    length: usize,
    fill: impl FnOnce(Room<'_>) -> Result<Room<'_>>,
) -> Result<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    need_exact_room(&mut bytes, length, "bytes of text")?;
    let room = &mut bytes.spare_capacity_mut()[..length];
    let start = room.as_ptr().cast::<u8>();
    let filled = fill(Room::new(room))?.filled();
    check_filled(filled, start, length)?;
    // SAFETY: the first `length` bytes of the spare capacity are initialised: `filled` was those.
    unsafe { bytes.set_len(length) };
    Ok(bytes)
}

/// Checks that what was filled is all of a room that began at `start`, and no other one.
///
/// # Errors
/// A sentence when it is not.
pub fn check_filled(filled: &[u8], start: *const u8, length: usize) -> Result<()> {
    if filled.as_ptr() == start && filled.len() == length {
        return Ok(());
    }
    Err(invalid!(
        "{} bytes were written where {length} were to be",
        filled.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn only_what_is_written_is_filled() {
        let mut memory = [MaybeUninit::uninit(); 24];
        let mut room = Room::new(&mut memory);
        assert!(room.append(b"ab") && room.append_first(1, b"cdef") && room.append_first(9, b"de"));
        assert!(room.append_narrow(&[0x1_0201, 3]) && room.append_wide(&[4]));
        assert!(!room.append(&[0; 12]) && !room.append_first(1, &[0; 12]));
        assert!(!room.append_narrow(&[0; 6]) && !room.append_wide(&[0; 3]));
        assert_eq!(room.filled(), b"abcde\x01\x02\x03\x00\x04\0\0\0");
    }

    #[test]
    fn a_list_is_filled_to_its_end_or_not_made() {
        let text = list_of_length(3, |mut room| {
            assert!(room.append(b"abc"));
            Ok(room)
        });
        assert_eq!(text.unwrap(), b"abc");
        let short = list_of_length(3, |mut room| {
            assert!(room.append(b"ab"));
            Ok(room)
        });
        let sentence = "2 bytes were written where 3 were to be";
        assert_eq!(short.unwrap_err().to_string(), sentence);
        let another = list_of_length(3, |_| {
            let mut room = Room::new(Box::leak(Box::new([MaybeUninit::uninit(); 3])));
            assert!(room.append(b"abc"));
            Ok(room)
        });
        assert!(another.is_err());
        let error = list_of_length(usize::MAX >> 1, |room| Ok(room)).unwrap_err();
        assert!(matches!(error, Error::Memory(_)), "{error}");
    }
}
