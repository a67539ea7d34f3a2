import type { BuiltPage } from './built.ts';
import { type Description, routesOf } from './description.ts';
import { REFERENCE_PATH } from './frame.ts';
import { titleOf } from './tags.ts';

/** What the search finds: title, where it is from, address. */
type Entry = [title: string, hint: string, address: string];

/** Headings down to this level are found. */
const DEEPEST = 3;

/** Titles and headings of the guides, operations by summary, path and name, and types of events. */
export function searchEntries(pages: Iterable<BuiltPage>, description: Description): Entry[] {
  const words = [...pages].flatMap(({ path, title, headings }): Entry[] => [
    [title, path, path],
    ...headings.filter(([level]) => level <= DEEPEST).map(([, id, text]): Entry => [text, title, `${path}#${id}`]),
  ]);
  const operations = routesOf(description).map(
    ({ method, path, operation: { summary, tags, operationId } }): Entry => [
      summary,
      `${method.toUpperCase()} ${path} · ${titleOf(tags[0]!)} · ${operationId}`,
      `${REFERENCE_PATH}/${tags[0]}#${operationId}`,
    ],
  );
  const events = Object.keys(description.webhooks).map(
    (type): Entry => [type, 'Event type', `${REFERENCE_PATH}/event_types#${type}`],
  );
  return [...words, ...operations, ...events];
}
