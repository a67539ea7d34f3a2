import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Offers } from '../../parts/offers.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { reasonWords } from './reason-words.ts';

interface Group {
  reason: string;
  code: string;
  count: number;
  first_seen_at: string;
  last_seen_at: string;
  sample_transaction_ids: string[];
}

/** Events that nothing bills, by why; once the cause is mended they are matched again. */
export function Unmatched() {
  const reading = useRead<{ unmatched_summary: Group[] }>('/events/unmatched/summary', { everySeconds: 5 });
  return (
    <Shown of={reading}>
      {({ unmatched_summary }) =>
        unmatched_summary.length === 0 ? (
          <Empty title={t.events.noUnmatched}>
            <p class="soft">{t.events.noUnmatchedHint}</p>
          </Empty>
        ) : (
          <Table
            label={t.events.unmatchedTable}
            rows={unmatched_summary}
            keyOf={({ reason, code }) => `${reason} ${code}`}
            columns={[
              { head: t.events.why, cell: ({ reason }) => reasonWords(reason) },
              { head: t.events.metric, cell: ({ code }) => <code>{code}</code> },
              { head: t.events.title, cell: (group) => count(group.count), isNumber: true },
              { head: t.events.last, cell: ({ last_seen_at }) => <When at={last_seen_at} />, isExtra: true },
              {
                head: t.events.example,
                cell: ({ sample_transaction_ids: ids }) => <code>{ids.slice(0, 2).join(', ')}</code>,
                isExtra: true,
              },
              {
                head: t.events.do,
                cell: ({ code }) => (
                  <Offers
                    of={[
                      {
                        text: t.events.heal,
                        title: t.events.healTitle,
                        submit: t.events.heal,
                        needs: 'event',
                        about: t.events.healAbout,
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
