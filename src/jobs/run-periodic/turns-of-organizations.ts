import type { Temporal } from 'temporal-polyfill';
import type { OrganizationId } from '../../platform/ids.ts';
import type { DueItem, Place, Selected } from '../../platform/periodic-job.ts';

/**
 * How far a tick has handed out what is due. It walks over all organizations in their order; one that fills a page of
 * its own is passed over, and joins the large ones, which take turns afterwards. It is stored with the lease, so that
 * whoever goes on begins there.
 *
 * Rule: periodic-jobs.md#fair-turns.
 */
export interface Progress {
  /** The tick whose instant the pages were selected at. */
  at: string;
  /** Where the walk is; `[]`: at the beginning; null: it is over. */
  walk: Place | readonly [] | null;
  /** Whether the walk begins again at its end: what it has passed may have fallen due since. */
  walksAgain: boolean;
  /** Where each large organization is, the next one first. */
  large: readonly Place[];
}

/** Where a tick begins, or goes on with what a former holder of the lease left. */
export function progressFrom(left: Progress | null, at: Temporal.Instant): Progress {
  const now = at.toString();
  if (left === null) return { at: now, walk: [], walksAgain: false, large: [] };
  if (left.at === now) return left;
  // A newer tick: everything up to its own instant is due, also in organizations that were passed.
  return left.walk === null ? { ...left, at: now, walk: [] } : { ...left, at: now, walksAgain: left.walk.length > 0 };
}

export const isOver = ({ walk, large }: Progress): boolean => walk === null && large.length === 0;

/** Reads the next page: of the walk, or else of the large organization whose turn it is. */
export async function takePage(
  progress: Progress,
  read: (of: { after: Place | undefined; organizationId?: OrganizationId }) => Promise<Selected>,
): Promise<{ items: DueItem[]; progress: Progress }> {
  const { walk, large } = progress;
  if (walk === null) {
    const [after, ...others] = large as [Place, ...Place[]];
    const { items, next } = await read({ after, organizationId: after[0] });
    return { items, progress: { ...progress, large: next === null ? others : [...others, next] } };
  }
  const { items, next } = await read({ after: walk.length === 0 ? undefined : (walk as Place) });
  const isLarge = (organizationId: OrganizationId) => large.some(([id]) => id === organizationId);
  return {
    items: alternating(items.filter(({ organization_id: id }) => !isLarge(id))),
    progress: { ...progress, ...walked(progress, items, next) },
  };
}

function walked(
  { walksAgain, large }: Progress,
  items: readonly DueItem[],
  next: Place | null,
): Pick<Progress, 'walk' | 'walksAgain' | 'large'> {
  if (next === null) return { walk: walksAgain ? [] : null, walksAgain: false, large };
  const [organizationId] = next;
  const fillsThePage = items.every(({ organization_id: id }) => id === organizationId);
  if (!fillsThePage) return { walk: next, walksAgain, large };
  const isNew = !large.some(([id]) => id === organizationId);
  return { walk: [organizationId], walksAgain, large: isNew ? [...large, next] : large };
}

/** One item of each organization after the other. */
function alternating(items: readonly DueItem[]): DueItem[] {
  const lanes = new Map<string, DueItem[]>();
  for (const due of items) {
    const lane = lanes.get(due.organization_id);
    if (lane) lane.push(due);
    else lanes.set(due.organization_id, [due]);
  }
  if (lanes.size < 2) return [...items];
  const turns: DueItem[][] = [];
  for (const lane of lanes.values()) {
    for (const [turn, due] of lane.entries()) {
      const row = turns[turn];
      if (row) row.push(due);
      else turns[turn] = [due];
    }
  }
  return turns.flat();
}
