import type { Path } from '../../../platform/found-places.ts';
import type { FieldErrors } from '../../../platform/refusal.ts';
import { type ErrorPlace, pathText } from '../../../platform/schema/error-places.ts';
import { CloudEventBody, EVENT_FIELDS } from './schema.ts';

/** Attributes of a CloudEvent that have a place. */
export const CLOUD_FIELDS: ReadonlySet<string> = new Set(Object.keys(CloudEventBody.shape));

/** Places of the errors of one event sent at the path `at`. Errors of a line or an expression have no field. */
export const placesOfEvent = (errors: FieldErrors, at: Path, fields = EVENT_FIELDS): ErrorPlace[] =>
  Object.entries(errors)
    .filter(([field]) => fields.has(field))
    .flatMap(([field, codes]) => (codes as string[]).map((code) => ({ path: pathText([...at, field]), code })));
