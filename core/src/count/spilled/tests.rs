//! Spilled counts against one table that holds all.

use proptest::prelude::*;

use super::*;

/// Adds pieces, spilling after each list; gives what is merged, and how many different pieces there are.
fn merged(lists: &[Vec<Vec<u8>>], max_bytes: usize) -> Result<(Vec<u8>, Merged)> {
    let mut parts = vec![Vec::new(); PARTITIONS];
    let mut counts = Counts::new(usize::MAX);
    let mut first = 0;
    for list in lists {
        for piece in list {
            counts.add(piece, 1)?;
        }
        let unique = counts.unique() as u64;
        counts.spill(first, &mut |partition, records| {
            parts[partition].push(records.to_vec());
            Ok(())
        })?;
        first += unique;
        assert_eq!((counts.unique(), counts.total()), (0, 0));
    }
    let mut sums: Vec<Vec<Vec<u8>>> = Vec::new();
    for part in &parts {
        let mut sum = Numbered::new(max_bytes);
        part.iter().try_for_each(|records| sum.add(records))?;
        let mut written = Vec::new();
        sum.write(&mut |records| {
            written.insert(0, records.to_vec());
            Ok(())
        })?;
        sums.push(written);
    }
    let mut out = Vec::new();
    let found = merge(
        PARTITIONS,
        &mut |partition| Ok(sums[partition].pop()),
        &mut |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        },
    )?;
    Ok((out, found))
}

proptest! {
    #[test]
    fn are_those_of_one_table(
        lists in prop::collection::vec(prop::collection::vec(prop::collection::vec(0..3u8, 1..5), 0..40), 0..6),
    ) {
        let mut all = Counts::new(usize::MAX);
        for piece in lists.iter().flatten() {
            all.add(piece, 1).unwrap();
        }
        let (bytes, found) = merged(&lists, usize::MAX).unwrap();
        prop_assert_eq!(bytes, all.dump());
        prop_assert_eq!(found, Merged { unique: all.unique() as u64, total: all.total() });
    }

    #[test]
    fn damaged_records_are_refused(records in prop::collection::vec(any::<u8>(), 0..20)) {
        let _ = Numbered::new(1 << 20).add(&records);
        let mut once = Some(records);
        let mut written = 0;
        let _ = merge(1, &mut |_| Ok(once.take()), &mut |bytes| {
            written += bytes.len();
            Ok(())
        });
        prop_assert!(written <= 20);
    }
}

#[test]
fn more_than_a_batch_comes_through() {
    let lists: Vec<Vec<Vec<u8>>> = (0..3)
        .map(|list: u32| {
            let numbers = (0..200_000_u32).map(|number| number * (list + 1));
            numbers
                .map(|number| format!("piece{number}").into_bytes())
                .collect()
        })
        .collect();
    let mut all = Counts::new(usize::MAX);
    for piece in lists.iter().flatten() {
        all.add(piece, 1).unwrap();
    }
    assert!(all.bytes() > all.unique() * 20);
    assert_eq!(merged(&lists, 1 << 20).unwrap().0, all.dump());
    assert!(matches!(
        merged(&lists, 1 << 16),
        Err(crate::Error::Bound(_))
    ));
}

#[test]
fn what_cannot_be_written_is_not_lost() {
    let mut counts = Counts::new(usize::MAX);
    counts.add(b"a", 2).unwrap();
    assert_eq!(
        counts.spill(0, &mut |_, _| Err(crate::Error::Stopped)),
        Err(crate::Error::Stopped)
    );
    assert_eq!(counts.count_of(b"a"), 2);
}
