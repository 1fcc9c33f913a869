import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Seats groups of visitors in a small theatre.
 *
 * <p>Each group is placed in one unbroken block. Among all blocks that fit,
 * the planner takes the tightest one, so that large gaps stay free for large
 * groups; ties go to the row nearest the stage.
 */
public final class SeatPlanner {

    /** A block of seats in one row; {@code first} counts from zero. */
    public record Block(int row, int first, int length) {
        @Override
        public String toString() {
            char letter = (char) ('A' + row);
            return length == 1
                    ? String.format("%c%d", letter, first + 1)
                    : String.format("%c%d-%c%d", letter, first + 1, letter, first + length);
        }
    }

    private static final int MAX_ROWS = 26;

    private final boolean[][] taken;

    public SeatPlanner(int rows, int seatsPerRow) {
        if (rows < 1 || rows > MAX_ROWS || seatsPerRow < 1) {
            throw new IllegalArgumentException("bad hall size: " + rows + " x " + seatsPerRow);
        }
        taken = new boolean[rows][seatsPerRow];
    }

    /** Lists the maximal free blocks, row by row. */
    List<Block> freeBlocks() {
        List<Block> blocks = new ArrayList<>();
        for (int row = 0; row < taken.length; row++) {
            int start = -1;
            for (int seat = 0; seat <= taken[row].length; seat++) {
                boolean isFree = seat < taken[row].length && !taken[row][seat];
                if (isFree && start < 0) {
                    start = seat;
                } else if (!isFree && start >= 0) {
                    blocks.add(new Block(row, start, seat - start));
                    start = -1;
                }
            }
        }
        return Collections.unmodifiableList(blocks);
    }

    /** Reserves seats for a group, or returns empty if it cannot sit together. */
    public Optional<Block> seat(int groupSize) {
        if (groupSize <= 0) {
            throw new IllegalArgumentException("groupSize must be positive");
        }
        Block best = null;
        for (Block gap : freeBlocks()) {
            if (gap.length() >= groupSize && (best == null || gap.length() < best.length())) {
                best = gap;
            }
        }
        if (best == null) {
            return Optional.empty();
        }
        Block chosen = new Block(best.row(), best.first(), groupSize);
        Arrays.fill(taken[chosen.row()], chosen.first(), chosen.first() + groupSize, true);
        return Optional.of(chosen);
    }

    /** Frees a block again, for instance after a cancellation. */
    public void release(Block block) {
        Arrays.fill(taken[block.row()], block.first(), block.first() + block.length(), false);
    }

    @Override
    public String toString() {
        StringBuilder sb = new StringBuilder();
        for (boolean[] row : taken) {
            for (boolean seat : row) {
                sb.append(seat ? '#' : '.');
            }
            sb.append('\n');
        }
        return sb.toString();
    }

    public static void main(String[] args) {
        SeatPlanner planner = new SeatPlanner(3, 8);
        for (int groupSize : new int[] {5, 4, 3, 2, 6, 7}) {
            String place = planner.seat(groupSize).map(Block::toString).orElse("no room");
            System.out.printf("group of %d -> %s%n", groupSize, place);
        }
        System.out.print(planner);
    }
}
