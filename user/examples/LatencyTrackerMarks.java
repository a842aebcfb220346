// SPDX-License-Identifier: MIT
import com.sun.jna.Library;
import com.sun.jna.Native;

/**
 * Marks for Java, by JNA: see latency_tracker_user.h. The comment of latency_tracker_user.c says
 * how to build the library; it is looked for in jna.library.path.
 *
 * <pre>
 *     static final LatencyTrackerMarks REQUEST = new LatencyTrackerMarks("request");
 *
 *     try (LatencyTrackerMarks.Operation operation = REQUEST.begin(number)) {
 *         ...
 *     }
 * </pre>
 *
 * An operation ends in the thread that has begun it. Virtual threads change theirs: in those only
 * beginId() with endId().
 */
public final class LatencyTrackerMarks {
    private interface Calls extends Library {
        int latency_tracker_define(String name);

        int latency_tracker_on();

        void latency_tracker_begin(int mark, long id);

        void latency_tracker_end(int mark, long id);

        void latency_tracker_begin_id(int mark, long id);

        void latency_tracker_end_id(int mark, long id);

        void latency_tracker_begin_shared(int mark, long id);

        void latency_tracker_end_shared(int mark, long id);
    }

    /** An operation of this thread that is pending. */
    public final class Operation implements AutoCloseable {
        private final long id;

        private Operation(long id) {
            this.id = id;
            CALLS.latency_tracker_begin(mark, id);
        }

        @Override
        public void close() {
            CALLS.latency_tracker_end(mark, id);
        }
    }

    private static final Calls CALLS = Native.load("latency_tracker_user", Calls.class);

    private final int mark;

    /** Without the module all of this does nothing. */
    public LatencyTrackerMarks(String name) {
        mark = CALLS.latency_tracker_define(name);
    }

    /** Is there such a mark, and are marks tracked now? */
    public boolean isOn() {
        return mark >= 0 && CALLS.latency_tracker_on() != 0;
    }

    public Operation begin(long id) {
        return new Operation(id);
    }

    /** An operation begins that any thread may end. */
    public void beginId(long id) {
        CALLS.latency_tracker_begin_id(mark, id);
    }

    public void endId(long id) {
        CALLS.latency_tracker_end_id(mark, id);
    }

    /** An operation begins that another process of the user may end. */
    public void beginShared(long id) {
        CALLS.latency_tracker_begin_shared(mark, id);
    }

    public void endShared(long id) {
        CALLS.latency_tracker_end_shared(mark, id);
    }

    /** Requests with a query in each. */
    @SuppressWarnings("try")
    public static void main(String[] args) throws InterruptedException {
        LatencyTrackerMarks request = new LatencyTrackerMarks("request");
        LatencyTrackerMarks query = new LatencyTrackerMarks("query");
        long requests = args.length > 0 ? Long.parseLong(args[0]) : 1000;

        System.err.println(request.isOn() ? "marks are tracked" : "no marks");
        for (long number = 1; number <= requests; number++) {
            try (Operation outer = request.begin(number); Operation inner = query.begin(number)) {
                Thread.sleep(1);
            }
        }
    }
}
