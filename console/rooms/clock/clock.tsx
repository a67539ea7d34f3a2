import type { TestClock } from '../../frame/clock-bar.tsx';
import { route, searchOf } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { type ClockEntry, ClockSubject } from '../../parts/clock-entry.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { Mails } from './mails.tsx';

/** What happens when? */
export default function Clock() {
  const { query } = route.value;
  const show = query.get('show') ?? '';
  const clock = useRead<{ test_clock: TestClock }>('/test_clock');
  return (
    <Page title={t.clock.title} badge={clock.data && <Badge of={clock.data.test_clock.status} />} under={t.clock.under}>
      {clock.error?.status === 404 ? (
        <Empty title={t.clock.noClock}>
          <p class="soft">{t.clock.noClockHint}</p>
        </Empty>
      ) : (
        <>
          <div class="bar">
            <Choices
              label={t.clock.which}
              name="show"
              options={[
                ['', t.clock.timeline],
                ['mails', t.clock.caughtMails],
              ]}
            />
          </div>
          {show === '' ? <Timeline /> : <Mails />}
        </>
      )}
    </Page>
  );
}

function Timeline() {
  const { query } = route.value;
  const list = useRead<{ timeline: ClockEntry[]; meta: PageMeta }>(
    can('test_clock') ? `/test_clock/timeline${searchOf({ per_page: 100, page: query.get('page') ?? 1 })}` : null,
  );
  return (
    <Shown of={list} rows={10}>
      {({ timeline, meta }) =>
        timeline.length === 0 ? (
          <Empty title={t.clock.nothingYet} />
        ) : (
          <>
            {byDay(timeline).map(([date, entries]) => (
              <Section key={date} title={day(date)}>
                <Table
                  label={t.clock.dayTable(day(date))}
                  rows={entries}
                  keyOf={({ sequence }) => String(sequence)}
                  columns={[
                    { head: t.clock.utc, cell: ({ at }) => <time dateTime={at}>{at.slice(11, 19)}</time> },
                    { head: t.clock.what, cell: ({ name }) => name.replace('.', ' ').replaceAll('_', ' ') },
                    { head: t.clock.kind, cell: ({ kind }) => <Badge of={kind} tone="plain" />, isExtra: true },
                    { head: t.clock.record, cell: (entry) => <ClockSubject of={entry} /> },
                  ]}
                />
              </Section>
            ))}
            <Pager meta={meta} />
          </>
        )
      }
    </Shown>
  );
}

function byDay(entries: readonly ClockEntry[]): [date: string, entries: ClockEntry[]][] {
  const days = new Map<string, ClockEntry[]>();
  for (const entry of entries) {
    const date = entry.at.slice(0, 10);
    days.set(date, [...(days.get(date) ?? []), entry]);
  }
  return [...days];
}
