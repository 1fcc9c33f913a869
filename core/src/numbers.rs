//! Numbers as bytes: packed for a binary file, in decimal for text.

use crate::error::{Result, ensure, invalid};
use crate::memory::room::Room;

/// The most bytes that a number has in decimal.
const LONGEST: usize = 20;

/// What stands around the numbers of a row, and between them.
#[derive(Clone, Copy, Debug)]
pub struct RowStyle<'a> {
    /// What a row begins with.
    pub before: &'a [u8],
    /// What stands between two numbers.
    pub between: u8,
    /// What a row ends with.
    pub after: &'a [u8],
}

/// Says how the first and the last of some rows hang together with those before and behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// The first row was begun before.
    pub continued: bool,
    /// It has a number already.
    pub begun: bool,
    /// The last row goes on later.
    pub unfinished: bool,
}

/// Writes rows of numbers in decimal, and tells whether the last row, if it goes on, has a number.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when the rows' ends descend or do not close with the numbers.
pub fn write_rows(
    numbers: &[u32],
    ends: &[u64],
    style: RowStyle<'_>,
    open: Open,
    out: &mut Vec<u8>,
) -> Result<bool> {
    check_ends(ends, numbers.len())?;
    let mut start = 0;
    let mut begun = open.begun;
    for (row, &end) in ends.iter().enumerate() {
        let items = &numbers[start..end as usize];
        if !(row == 0 && open.continued) {
            out.extend_from_slice(style.before);
            begun = false;
        }
        if begun && !items.is_empty() {
            out.push(style.between);
        }
        write_joined(items, style.between, out);
        begun |= !items.is_empty();
        if !(open.unfinished && row + 1 == ends.len()) {
            out.extend_from_slice(style.after);
            begun = false;
        }
        start = end as usize;
    }
    Ok(begun)
}

/// Writes numbers in decimal with a byte between them.
fn write_joined(numbers: &[u32], between: u8, out: &mut Vec<u8>) {
    // Few at a time, so that the room for the longest is soon given back.
    for (number, some) in numbers.chunks(4096).enumerate() {
        if number > 0 {
            out.push(between);
        }
        let mut at = out.len();
        out.resize(at + some.len() * 11, 0);
        for &number in some {
            at += write_decimal(number, &mut out[at..]);
            out[at] = between;
            at += 1;
        }
        // Behind the last number stands no separator.
        out.truncate(at - 1);
    }
}

/// Writes a number to the beginning of a slice with room for 10 bytes, and gives how many digits it has.
/// Zero bytes may stand behind them.
#[inline]
fn write_decimal(number: u32, out: &mut [u8]) -> usize {
    if number >= 100_000_000 {
        let text = number.to_string();
        out[..text.len()].copy_from_slice(text.as_bytes());
        return text.len();
    }
    // Eight digits with zeros in front, two from each look-up; then the zeros are shifted out.
    let (high, low) = (number / 10_000, number % 10_000);
    let pairs = [high / 100, high % 100, low / 100, low % 100];
    let mut digits = [0; 8];
    for (place, pair) in digits.as_chunks_mut::<2>().0.iter_mut().zip(pairs) {
        *place = PAIRS[pair as usize];
    }
    let length = 1 + number.checked_ilog10().unwrap_or(0) as usize;
    let shifted = u64::from_le_bytes(digits) >> (8 * (8 - length));
    out[..8].copy_from_slice(&shifted.to_le_bytes());
    length
}

/// All pairs of digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Writes counts, a decimal number a line. The first has `carried` added; the last, if it goes on, is
/// not written. Gives the sum of the counts, and what the next block's first has to carry.
///
/// # Errors
/// When a document's tokens, or those of all documents together, pass 2^64.
pub fn write_counts(
    counts: &[u64],
    carried: u64,
    unfinished: bool,
    out: &mut Vec<u8>,
) -> Result<(u64, u64)> {
    let passes = |what: &str| invalid!("the tokens of {what} pass 2^64");
    let mut sum: u64 = 0;
    let mut open = carried;
    let last = counts.len().wrapping_sub(1);
    out.reserve(counts.len() * 8);
    for (place, &count) in counts.iter().enumerate() {
        sum = sum
            .checked_add(count)
            .ok_or_else(|| passes("all documents"))?;
        open = open
            .checked_add(count)
            .ok_or_else(|| passes("a document"))?;
        if unfinished && place == last {
            break;
        }
        let mut digits = [0; LONGEST];
        let mut start = LONGEST;
        loop {
            start -= 1;
            digits[start] = b'0' + (open % 10) as u8;
            open /= 10;
            if open == 0 {
                break;
            }
        }
        out.extend_from_slice(&digits[start..]);
        out.push(b'\n');
    }
    Ok((sum, open))
}

/// Packs ids as little-endian numbers of 2 bytes (`narrow`) or 4, with `eot` behind each of the rows that
/// end at `ends`, which are `base` higher than the places in `ids`; ids behind the last row have none. Fills all of
/// `out`, which has just the room.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when the ends descend or run beyond the ids, when `out` is of another size, or an id
/// is too large for 2 bytes.
pub fn pack<'a>(
    ids: &[u32],
    ends: &[u64],
    base: u64,
    eot: Option<u32>,
    narrow: bool,
    mut out: Room<'a>,
) -> Result<Room<'a>> {
    let width = if narrow { 2 } else { 4 };
    let eots = if eot.is_some() { ends.len() } else { 0 };
    ensure!(
        out.len() == (ids.len() + eots) * width,
        "the room is not that of the numbers"
    );
    let mut start = 0;
    let mut all = 0;
    let mut put = |items: &[u32]| {
        for &id in items {
            all |= id;
        }
        let fits = match narrow {
            true => out.append_narrow(items),
            false => out.append_wide(items),
        };
        match fits {
            true => Ok(()),
            false => Err(invalid!("the room is not that of the numbers")),
        }
    };
    if let Some(eot) = eot {
        for &end in ends {
            let (row, after) = (end.checked_sub(base))
                .and_then(|end| usize::try_from(end).ok())
                .and_then(|end| Some((ids.get(start..end)?, end)))
                .ok_or_else(|| invalid!("a row ends at {end}"))?;
            put(row)?;
            put(&[eot])?;
            start = after;
        }
    }
    put(&ids[start..])?;
    if narrow && all > 0xFFFF {
        return Err(invalid!("an id over 65,535 does not fit into u16"));
    }
    Ok(out)
}

/// Checks that rows' ends ascend and close with the numbers.
fn check_ends(ends: &[u64], length: usize) -> Result<()> {
    ensure!(
        ends.is_sorted() && ends.last().copied().unwrap_or(0) == length as u64,
        "the rows' ends do not close with the {length} numbers"
    );
    Ok(())
}

/// Reads little-endian numbers of 2 bytes. A last odd byte is left out.
#[must_use]
pub fn widen(bytes: &[u8]) -> Vec<u32> {
    let (numbers, _) = bytes.as_chunks::<2>();
    numbers
        .iter()
        .map(|&number| u32::from(u16::from_le_bytes(number)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::room;
    use proptest::prelude::*;

    const JSON: RowStyle<'_> = RowStyle {
        before: b"[",
        between: b',',
        after: b"]\n",
    };

    fn rows(numbers: &[u32], ends: &[u64], open: Open) -> (String, bool) {
        let mut out = Vec::new();
        let begun = write_rows(numbers, ends, JSON, open, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), begun)
    }

    fn packed(ids: &[u32], ends: &[u64], eot: Option<u32>, narrow: bool) -> Result<Vec<u8>> {
        packed_from(ids, ends, 0, eot, narrow)
    }

    fn packed_from(
        ids: &[u32],
        ends: &[u64],
        base: u64,
        eot: Option<u32>,
        narrow: bool,
    ) -> Result<Vec<u8>> {
        let eots = if eot.is_some() { ends.len() } else { 0 };
        let length = (ids.len() + eots) * if narrow { 2 } else { 4 };
        room::list_of_length(length, |room| pack(ids, ends, base, eot, narrow, room))
    }

    #[test]
    fn writes_rows() {
        let whole = Open::default();
        assert_eq!(
            rows(&[1, 20, 300], &[1, 1, 3], whole).0,
            "[1]\n[]\n[20,300]\n"
        );
        assert_eq!(rows(&[], &[], whole), (String::new(), false));
        let open = Open {
            unfinished: true,
            ..whole
        };
        assert_eq!(rows(&[1, 2], &[1, 2], open), ("[1]\n[2".into(), true));
        assert_eq!(rows(&[1], &[1, 1], open), ("[1]\n[".into(), false));
        let go_on = Open {
            continued: true,
            begun: true,
            unfinished: true,
        };
        assert_eq!(rows(&[7], &[1], go_on), (",7".into(), true));
        assert_eq!(rows(&[], &[0], go_on), (String::new(), true));
        assert!(write_rows(&[1], &[2], JSON, whole, &mut Vec::new()).is_err());
        assert!(write_rows(&[1], &[1, 0], JSON, whole, &mut Vec::new()).is_err());
    }

    #[test]
    fn writes_numbers_of_every_length() {
        let numbers: Vec<u32> = (0..10)
            .flat_map(|power| {
                let number = 10_u32.pow(power);
                [number - 1, number, number + 1]
            })
            .chain([u32::MAX])
            .cycle()
            .take(9000)
            .collect();
        let expected: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let mut out = Vec::new();
        write_joined(&numbers, b' ', &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected.join(" "));
    }

    #[test]
    fn writes_counts() {
        let mut out = Vec::new();
        assert_eq!(write_counts(&[3, 0, 5], 10, true, &mut out), Ok((8, 5)));
        assert_eq!(out, b"13\n0\n");
        assert_eq!(
            write_counts(&[u64::MAX], 0, false, &mut out),
            Ok((u64::MAX, 0))
        );
        assert_eq!(out, b"13\n0\n18446744073709551615\n");
        assert_eq!(write_counts(&[], 4, false, &mut out), Ok((0, 4)));
        for (counts, carried, what) in [
            (&[u64::MAX, 1][..], 0, "all documents"),
            (&[u64::MAX], 1, "a document"),
        ] {
            let error = write_counts(counts, carried, true, &mut out).unwrap_err();
            assert_eq!(error.to_string(), format!("the tokens of {what} pass 2^64"));
        }
    }

    #[test]
    fn packs_with_what_ends_rows() {
        assert_eq!(
            packed(&[1, 515, 7], &[2, 2], Some(9), true).unwrap(),
            [1, 0, 3, 2, 9, 0, 9, 0, 7, 0]
        );
        assert_eq!(
            packed(&[1, 0x0403_0201], &[], None, false).unwrap(),
            [1, 0, 0, 0, 1, 2, 3, 4]
        );
        assert!(packed(&[65_536], &[], None, true).is_err());
        assert!(packed(&[1], &[1], Some(65_536), true).is_err());
        // An end that is nowhere written has to fit nowhere.
        assert_eq!(packed(&[1], &[], Some(65_536), true).unwrap(), [1, 0]);
        assert!(packed(&[1], &[2], Some(1), true).is_err());
        assert_eq!(
            packed_from(&[5, 6], &[8, 9], 7, Some(9), true),
            packed(&[5, 6], &[1, 2], Some(9), true)
        );
        assert!(packed_from(&[5, 6], &[6], 7, Some(9), true).is_err());
        assert!(packed(&[1, 2], &[2, 1], Some(1), true).is_err());
        assert_eq!(widen(&[1, 0, 3, 2, 9]), [1, 515]);
    }

    proptest! {
        #[test]
        fn packing_is_number_by_number(
            ids in prop::collection::vec(0_u32..70_000, 0..60),
            cuts in prop::collection::vec(0_usize..60, 0..6),
            eot in prop::option::of(0_u32..66_000),
            narrow: bool,
        ) {
            let mut ends: Vec<u64> = cuts.iter().map(|&cut| cut.min(ids.len()) as u64).collect();
            ends.sort_unstable();
            let mut numbers = Vec::new();
            for place in 0..=ids.len() {
                let closed = ends.iter().filter(|&&end| end == place as u64).count();
                numbers.extend(std::iter::repeat_n(eot, closed).flatten());
                numbers.extend(ids.get(place));
            }
            let result = packed(&ids, &ends, eot, narrow);
            if narrow && numbers.iter().any(|&number| number > 0xFFFF) {
                prop_assert!(result.is_err());
            } else if narrow {
                let bytes = result.unwrap();
                prop_assert_eq!(widen(&bytes), numbers);
            } else {
                let expected: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
                prop_assert_eq!(result.unwrap(), expected);
            }
        }
    }
}
