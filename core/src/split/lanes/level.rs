//! What a machine must be able to do with 64 bytes: the only part of the scanner that is written once
//! for each kind of machine.

/// 64 bytes, and a few more for the characters that begin among the last of them.
pub(super) type Stretch = [u8; 72];

/// Which of 64 bytes hold a character of a kind: a bit each, the first byte's the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    /// `bits::LETTER`.
    pub letter: u64,
    /// `bits::UPPER`.
    pub upper: u64,
    /// `bits::LOWER`.
    pub lower: u64,
    /// `bits::NUMBER`.
    pub number: u64,
    /// `bits::SPACE`.
    pub space: u64,
}

/// Which of 64 bytes are ASCII characters of a kind, and which are no ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ascii {
    pub kinds: Kinds,
    /// `\r` and `\n`.
    pub newline: u64,
    /// The space.
    pub blank: u64,
    pub apostrophe: u64,
    pub slash: u64,
    /// Bytes from 0x80 on.
    pub high: u64,
}

impl Ascii {
    /// Takes the kinds in the order in which tables have them, and the bytes that are no ASCII.
    #[inline(always)]
    pub fn new(kinds: [u64; 8], high: u64) -> Self {
        let [
            upper,
            lower,
            number,
            space,
            newline,
            blank,
            apostrophe,
            slash,
        ] = kinds;
        Self {
            kinds: Kinds {
                letter: upper | lower,
                upper,
                lower,
                number,
                space,
            },
            newline,
            blank,
            apostrophe,
            slash,
            high,
        }
    }
}

/// Which of 64 bytes may begin a character of more than one byte, by what they are alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leads {
    /// Bytes that can only stand inside of one: 80 to BF.
    pub continuing: u64,
    /// C2 to DF.
    pub two: u64,
    /// E0 to EF.
    pub three: u64,
    /// F0 to F4.
    pub four: u64,
    /// Those of three bytes that are letters without case, whatever the other bytes: E5 to E9 begin
    /// ideographs, EB and EC syllables of Korean.
    pub caseless: u64,
    /// E4, of which the same is true but where B7 follows (hexagrams).
    pub nearly_caseless: u64,
    /// B7.
    pub hexagram: u64,
}

impl Leads {
    /// Takes the kinds in the order in which tables have them; the last is of nothing.
    #[inline(always)]
    pub fn new(kinds: [u64; 8]) -> Self {
        let [
            continuing,
            two,
            three,
            four,
            caseless,
            nearly_caseless,
            hexagram,
            _,
        ] = kinds;
        Self {
            continuing,
            two,
            three,
            four,
            caseless,
            nearly_caseless,
            hexagram,
        }
    }
}

/// The bytes that well-formed characters of more than one byte begin with, by their number of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long {
    pub two: u64,
    pub three: u64,
    pub four: u64,
}

/// A way to look at 64 bytes at once. Its value is the proof that the machine can do it.
pub(super) trait Level: Copy {
    /// 64 bytes, loaded.
    type Bytes: Copy;

    /// Loads the first 64 bytes.
    fn load(self, stretch: &Stretch) -> Self::Bytes;

    /// Finds the ASCII characters; no other byte is of any kind.
    fn ascii(self, bytes: Self::Bytes) -> Ascii;

    /// Finds the bytes that may be of longer characters.
    fn leads(self, bytes: Self::Bytes) -> Leads;

    /// Finds the kinds of the characters that begin at the bytes of `long`, and takes those out of it
    /// that are ill-formed for what their first two bytes are. Only the first byte of each gets bits.
    fn long(self, stretch: &Stretch, bytes: Self::Bytes, long: &mut Long) -> Kinds;

    /// Writes `base` plus the place of every bit. `room` has a place for each, and for as many more as
    /// make a multiple of eight; those may be written too.
    fn put(self, bits: u64, base: usize, room: &mut [usize]);
}

/// Calls `f` with the place of every bit, the lowest first.
#[inline(always)]
pub(super) fn for_each_bit(mut bits: u64, mut f: impl FnMut(usize)) {
    while bits != 0 {
        f(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
