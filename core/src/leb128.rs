//! Numbers as bytes, seven bits a byte, the lowest first; all but the last byte have the highest bit set.

/// Appends a number.
pub fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads the number at `at`, and moves `at` behind it; None if it is cut, or has more than 64 bits.
pub fn read(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in proptest::collection::vec(any::<u64>(), 0..9)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|&number| write(&mut bytes, number));
            let mut at = 0;
            for number in numbers {
                prop_assert_eq!(read(&bytes, &mut at), Some(number));
            }
            prop_assert_eq!((at, read(&bytes, &mut at)), (bytes.len(), None));
        }
    }

    #[test]
    fn more_than_64_bits_are_refused() {
        let mut largest = Vec::new();
        write(&mut largest, u64::MAX);
        assert_eq!(read(&largest, &mut 0), Some(u64::MAX));
        *largest.last_mut().unwrap() = 2;
        assert_eq!(read(&largest, &mut 0), None);
    }
}
