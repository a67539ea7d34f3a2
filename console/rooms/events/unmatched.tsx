import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Offers } from '../../parts/offers.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';

interface Group {
  reason: string;
  code: string;
  count: number;
  first_seen_at: string;
  last_seen_at: string;
  sample_transaction_ids: string[];
}

const REASONS: Record<string, string> = {
  metric_not_found: 'No metric has this code',
  subscription_not_found: 'No subscription has this id',
  no_charge: 'The plan has no charge for this metric',
  property_missing: 'The property that the metric sums is missing',
};

/** Events that nothing bills, by why; once the cause is mended they are matched again. */
export function Unmatched() {
  const reading = useRead<{ unmatched_summary: Group[] }>('/events/unmatched/summary', { everySeconds: 5 });
  return (
    <Shown of={reading}>
      {({ unmatched_summary }) =>
        unmatched_summary.length === 0 ? (
          <Empty title="Every event is billed">
            <p class="soft">Events whose code, subscription or property does not fit would stand here.</p>
          </Empty>
        ) : (
          <Table
            label="Events that nothing bills"
            rows={unmatched_summary}
            keyOf={({ reason, code }) => `${reason} ${code}`}
            columns={[
              { head: 'Why', cell: ({ reason }) => REASONS[reason] ?? reason.replaceAll('_', ' ') },
              { head: 'Metric code', cell: ({ code }) => <code>{code}</code> },
              { head: 'Events', cell: (group) => count(group.count), isNumber: true },
              { head: 'Last', cell: ({ last_seen_at }) => <When at={last_seen_at} />, isExtra: true },
              {
                head: 'For example',
                cell: ({ sample_transaction_ids: ids }) => <code>{ids.slice(0, 2).join(', ')}</code>,
                isExtra: true,
              },
              {
                head: 'Do',
                cell: ({ code }) => (
                  <Offers
                    of={[
                      {
                        text: 'Match again',
                        title: 'Match these events again',
                        submit: 'Match again',
                        needs: 'event',
                        about:
                          'Once the metric, the plan or the subscription is mended, these events are counted as if ' +
                          'they had come now.',
                        command: () => ({ method: 'POST', path: '/events/unmatched/heal', body: { heal: { code } } }),
                      },
                    ]}
                  />
                ),
              },
            ]}
          />
        )
      }
    </Shown>
  );
}
