import { type ClockEntry, ClockSubject } from '../parts/clock-entry.tsx';
import type { PageMeta } from '../parts/table.tsx';
import { day } from '../parts/times.tsx';
import { t } from '../texts/en.ts';
import { searchOf, to } from './route.ts';
import { useRead } from './use-read.ts';

const PER_PAGE = 50;

/** What the clock has made happen, the newest first, while it is open; the whole is in the room of the clock. */
export function ClockDrawer({ isAdvancing }: { isAdvancing: boolean }) {
  const often = isAdvancing ? { everySeconds: 1 } : {};
  const pathOf = (page: number) => `/test_clock/timeline${searchOf({ per_page: PER_PAGE, page })}`;
  const first = useRead<{ timeline: ClockEntry[]; meta: PageMeta }>(pathOf(1), often);
  const pages = first.data?.meta.total_pages ?? 1;
  // The API gives the oldest first, so that the newest are on the last page.
  const last = useRead<{ timeline: ClockEntry[] }>(pages > 1 ? pathOf(pages) : null, often);
  const entries = [...((pages > 1 ? last.data : first.data)?.timeline ?? [])].reverse();
  return (
    <div class="clock-drawer" role="region" aria-label={t.clock.timeline} tabIndex={0}>
      {entries.length === 0 && <p class="soft">{t.clock.nothingYet}</p>}
      <ul class="list">
        {entries.map((entry) => (
          <li key={entry.sequence}>
            <span class="what">
              {entry.name.replace('.', ' ').replaceAll('_', ' ')} <ClockSubject of={entry} />
            </span>
            <time class="end soft" dateTime={entry.at}>
              {day(entry.at.slice(0, 10))} {entry.at.slice(11, 16)}
            </time>
          </li>
        ))}
      </ul>
      <a href={to('clock')}>{t.frame.wholeTimeline}</a>
    </div>
  );
}
