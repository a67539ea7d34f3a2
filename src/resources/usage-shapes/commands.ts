import type { Context } from '../../platform/context.ts';

/** What a command changed: a metric itself, or only charges, filters and group keys on it. */
export type ShapeChange = 'metric' | 'charges';

/**
 * Brings the rollups of metrics in line with what is charged on them. Call it at the end of every command that creates,
 * changes or deletes metrics, charges or charge filters, with the metrics concerned, inside the command's transaction.
 *
 * A metric that a live charge uses gets a shape: its field and the names of all properties in filters, pricing groups
 * and presentation groups. When that changed, a shape is put in `building` and its build is owed as step `build-shape`;
 * until it is live, usage is scanned. Writers of events notice by `shapes_version`, which is raised under the
 * organization's exclusive lock. Rule: performance-design 5.3.
 *
 * change  `charges` raises the version only when a shape changes
 */
export async function refreshShapes(
  _ctx: Context,
  _metricIds: readonly string[],
  _change: ShapeChange = 'metric',
): Promise<void> {}
