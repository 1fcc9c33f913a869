//! Takes OpenAI's ranks from a crate that carries them and writes them down as finished tables.
//!
//! What is embedded is known by the sha256 of the `.tiktoken` file it was published as; the file is
//! rebuilt here, and its sum must be the published one.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tiktoken_rs::CoreBPE;

use crate::tables::{
    AsciiTable, CharacterTable, Edges, NONE, PairTable, PieceTable, TokenTable, recover_merges,
};

/// A rank file: the published sha256, one more than its highest rank, and who carries it.
struct Published {
    sha256: &'static str,
    ranks: u32,
    carrier: fn() -> CoreBPE,
}

const PUBLISHED: [Published; 4] = [
    Published {
        sha256: "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        ranks: 50_256,
        carrier: || tiktoken_rs::r50k_base().expect("the crate reads its own ranks"),
    },
    Published {
        sha256: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        ranks: 50_281,
        carrier: || tiktoken_rs::p50k_base().expect("the crate reads its own ranks"),
    },
    Published {
        sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        ranks: 100_256,
        carrier: || tiktoken_rs::cl100k_base().expect("the crate reads its own ranks"),
    },
    Published {
        sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        ranks: 199_998,
        carrier: || tiktoken_rs::o200k_base().expect("the crate reads its own ranks"),
    },
];

/// Writes the arrays of each rank file and `embedded.rs`, which lists them.
pub fn write_tables(out: &Path) {
    println!("cargo::rerun-if-changed=src/tables");
    println!("cargo::rerun-if-changed=src/error.rs");
    // Where an entry lies depends on the order of a number's bytes, too: turning the bytes would not do.
    let order = if cfg!(target_endian = "big") {
        "big"
    } else {
        "little"
    };
    let target = env::var("CARGO_CFG_TARGET_ENDIAN").expect("cargo says it");
    assert_eq!(
        order, target,
        "the rank tables are laid out in the byte order of the machine that builds: build on one of the target's"
    );
    // What reads them checks it again, in case that they are carried elsewhere.
    let mut list = format!(
        "{{ const _: () = assert!(cfg!(target_endian = \"{order}\"), \"the tables have another byte order\"); [\n"
    );
    for published in &PUBLISHED {
        write_one(published, out);
        writeln!(list, "    embedded_table!(\"{}\"),", published.sha256)
            .expect("a String takes it");
    }
    list.push_str("] }");
    fs::write(out.join("embedded.rs"), list).expect("OUT_DIR is writable");
}

fn write_one(published: &Published, out: &Path) {
    let (blob, ends, file) = read(published);
    let sha256 = Sha256::digest(&file)
        .iter()
        .fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a String takes it");
            text
        });
    assert_eq!(
        sha256, published.sha256,
        "the carried ranks are not the published ones"
    );

    let tokens = TokenTable::new(blob.into(), ends.into()).expect("ranks make a valid table");
    let pieces = PieceTable::build(&tokens).expect("ranks are distinct");
    let recovered = recover_merges(&tokens, &pieces);
    assert!(
        recovered.unreachable.is_empty(),
        "merges stand for ranks only if they reach every token"
    );
    let entries = recovered
        .merges
        .iter()
        .map(|merge| (merge.left, merge.right, merge.product));
    let pairs = PairTable::build(entries.clone()).expect("ids fit");
    let bytes: [u32; 256] =
        std::array::from_fn(|byte| pieces.get(&[byte as u8], &tokens).unwrap_or(NONE));
    // By ranks, the number of a merge is the token that it makes, and above those of its parts.
    let number = |number| number;
    let edges = Edges::new(&tokens, entries.clone());
    let characters = CharacterTable::build(edges, &pairs, number, &bytes);
    let ascii = AsciiTable::build(entries, &tokens, &bytes);

    let write = |kind: &str, content: &[u8]| {
        let path = out.join(format!("{}.{kind}", published.sha256));
        fs::write(path, content).expect("OUT_DIR is writable");
    };
    // As this machine reads them; `write_tables` makes sure that the target does too.
    let u32s = |numbers: &[u32]| {
        numbers
            .iter()
            .flat_map(|n| n.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    write("blob", tokens.blob());
    write("ends", &u32s(tokens.ends()));
    write("pieces", &u32s(pieces.slots()));
    let u64s = |numbers: &[u64]| {
        numbers
            .iter()
            .flat_map(|n| n.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    write("pairs", &u64s(pairs.slots()));
    write("filter", &u64s(pairs.filter()));
    write("characters", &u64s(characters.slots()));
    write("ascii", &u64s(ascii.pairs()));
    write("bytes", &u32s(&bytes));
}

/// Gives blob and ends of the tokens, and the `.tiktoken` file they were published as.
fn read(published: &Published) -> (Vec<u8>, Vec<u32>, Vec<u8>) {
    let carrier = (published.carrier)();
    let special = carrier.special_tokens();
    let (mut blob, mut ends, mut file) = (Vec::new(), Vec::new(), Vec::new());
    for rank in 0..published.ranks {
        let token = carrier
            .decode_bytes(&[rank])
            .expect("every rank has a token");
        // p50k_base has a hole where <|endoftext|> is.
        if !special.iter().any(|special| special.as_bytes() == token) {
            file.extend_from_slice(format!("{} {rank}\n", STANDARD.encode(&token)).as_bytes());
            blob.extend_from_slice(&token);
        }
        ends.push(u32::try_from(blob.len()).expect("a rank file is a few megabytes"));
    }
    (blob, ends, file)
}
