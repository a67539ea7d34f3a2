import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago, When } from '../../parts/times.tsx';

interface Job {
  name: string;
  clock: string;
  schedule: string;
  next_tick_at: string;
  last_run: { status: string; started_at: string; duration_ms: number | null; error: string | null } | null;
}

interface Queue {
  name: string;
  depth: number;
  active: number;
  delayed: number;
  failed: number;
  oldest_waiting_at: string | null;
}

/** A queue whose oldest job waits longer than this stands still. */
const LATE_MS = 60_000;

const isLate = ({ oldest_waiting_at: at }: Queue): boolean =>
  at !== null && Date.now() - new Date(at).getTime() > LATE_MS;

/** Is billing well? For who runs the service; no record of any organization is here. */
export default function Operations() {
  const reading = useRead<{ jobs: Job[]; queues: Queue[] }>('/operations/jobs', { everySeconds: 5, asOperator: true });
  return (
    <Page title="Operations" under="Queues and periodic jobs of this deployment, read again every 5 seconds.">
      <Shown of={reading} rows={10}>
        {({ jobs, queues }) => (
          <>
            <Section title="Queues" more={<a href="/queues">Board of queues</a>}>
              <Table
                label="Queues"
                rows={[...queues].sort((a, b) => Number(isLate(b)) - Number(isLate(a)))}
                keyOf={({ name }) => name}
                columns={[
                  { head: 'Queue', cell: ({ name }) => name },
                  {
                    head: 'State',
                    cell: (queue) =>
                      isLate(queue) ? (
                        <Badge of="late" tone="bad" />
                      ) : queue.depth > 0 ? (
                        <Badge of="working" tone="wait" />
                      ) : (
                        <Badge of="idle" tone="good" />
                      ),
                  },
                  { head: 'Waiting', cell: ({ depth }) => count(depth), isNumber: true },
                  { head: 'Running', cell: ({ active }) => count(active), isNumber: true },
                  { head: 'Later', cell: ({ delayed }) => count(delayed), isNumber: true, isExtra: true },
                  { head: 'Failed', cell: ({ failed }) => count(failed), isNumber: true, isExtra: true },
                  { head: 'Oldest', cell: ({ oldest_waiting_at: at }) => <Ago at={at} />, isExtra: true },
                ]}
              />
            </Section>
            <Section title="Periodic jobs">
              <Table
                label="Periodic jobs"
                rows={jobs}
                keyOf={({ name }) => name}
                columns={[
                  { head: 'Job', cell: ({ name }) => name },
                  {
                    head: 'Last run',
                    cell: ({ last_run: run }) =>
                      run ? (
                        <>
                          <Badge of={run.status} tone={run.error ? 'bad' : run.status === 'done' ? 'good' : 'wait'} />
                          {run.error && <span class="second">{run.error}</span>}
                        </>
                      ) : (
                        <span class="soft">not yet</span>
                      ),
                  },
                  { head: 'Started', cell: ({ last_run }) => <Ago at={last_run?.started_at} /> },
                  {
                    head: 'Took',
                    cell: ({ last_run }) => (last_run?.duration_ms == null ? '–' : `${count(last_run.duration_ms)} ms`),
                    isNumber: true,
                    isExtra: true,
                  },
                  { head: 'Runs', cell: ({ schedule }) => schedule, isExtra: true },
                  { head: 'Next', cell: ({ next_tick_at }) => <When at={next_tick_at} />, isExtra: true },
                ]}
              />
            </Section>
          </>
        )}
      </Shown>
    </Page>
  );
}
