import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { listVolumes, type VolumeRow } from './queries.ts';
import type { EventVolume, EventVolumeQuery } from './schema.ts';
import { type Span, spanOf } from './span.ts';

type Counted = 'stored' | 'unmatched' | 'replayed' | 'rejected';

/**
 * How many events came in each step of real time, by code: the busiest codes first, the others summed. One statement.
 *
 * @throws Refusal 422 as `spanOf`
 * Rule: event-volume.md#reading.
 */
export async function showEventVolume(ctx: Context, { query }: { query: EventVolumeQuery }): Promise<EventVolume> {
  const span = spanOf(query, realNow());
  const rows = await listVolumes(ctx, query.step, span, query.code);
  const byCode = new Map<string | null, VolumeRow[]>();
  for (const row of rows) byCode.set(row.code, [...(byCode.get(row.code) ?? []), row]);
  const total = (of: Counted, some: readonly VolumeRow[] = rows) => some.reduce((sum, row) => sum + row[of], 0);
  const series = [...byCode]
    .filter(([, own]) => total('stored', own) > 0)
    .sort(
      ([a, one], [b, other]) =>
        Number(a === null) - Number(b === null) || total('stored', other) - total('stored', one),
    )
    .map(([code, own]) => ({ code, stored: steps(span, own, 'stored'), unmatched: steps(span, own, 'unmatched') }));
  // What is not stored has no code.
  const notStored = query.code === undefined;
  return {
    event_volume: {
      step: query.step,
      from: span.from.toString(),
      to: span.to.toString(),
      series,
      replayed: notStored ? steps(span, rows, 'replayed') : null,
      rejected: notStored ? steps(span, rows, 'rejected') : null,
      totals: {
        stored: total('stored'),
        unmatched: total('unmatched'),
        replayed: notStored ? total('replayed') : null,
        rejected: notStored ? total('rejected') : null,
      },
    },
  };
}

function steps({ from, stepMs, steps: count }: Span, rows: readonly VolumeRow[], of: Counted): number[] {
  const points = new Array<number>(count).fill(0);
  for (const row of rows) {
    const index = (row.at.epochMilliseconds - from.epochMilliseconds) / stepMs;
    points[index] = points[index]! + row[of];
  }
  return points;
}
