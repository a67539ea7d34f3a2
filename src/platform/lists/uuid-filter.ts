import { isUuid } from '../ids.ts';
import { refuse } from '../refusal.ts';

/**
 * @throws Refusal 422 on the field `is in invalid format`, unless it is absent or a UUID (lists.md#filters-and-order)
 */
export function checkUuidFilter(field: string, value: string | undefined): void {
  if (value !== undefined && !isUuid(value)) throw refuse.invalid({ [field]: ['is in invalid format'] });
}
