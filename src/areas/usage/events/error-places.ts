import type { Path } from '../../../platform/found-places.ts';
import type { FieldErrors } from '../../../platform/refusal.ts';
import { type ErrorPlace, pathText } from '../../../platform/schema/error-places.ts';
import { EVENT_FIELDS } from './schema.ts';

/** Places of the errors of one event sent at the path `at`. Errors of a line or an expression have no field. */
export const placesOfEvent = (errors: FieldErrors, at: Path): ErrorPlace[] =>
  Object.entries(errors)
    .filter(([field]) => EVENT_FIELDS.has(field))
    .flatMap(([field, codes]) => (codes as string[]).map((code) => ({ path: pathText([...at, field]), code })));
