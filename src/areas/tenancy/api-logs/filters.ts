import { own } from '../../../engine/own.ts';
import { listFilter } from '../../../platform/lists/filters.ts';

export const HTTP_METHODS = ['post', 'put', 'delete'] as const;

/** Range of HTTP statuses. */
const STATUS_MIN = 100;
const STATUS_MAX = 599;
/** The greatest status of a success. Rule: logs.md#api-logs. */
const SUCCEEDED_MAX = 399;

/** Statuses from `min` to `max`, both included. */
export interface StatusRange {
  min: number;
  max: number;
}

const RANGES: Readonly<Record<string, StatusRange>> = {
  succeeded: { min: STATUS_MIN, max: SUCCEEDED_MAX },
  failed: { min: SUCCEEDED_MAX + 1, max: STATUS_MAX },
};

function rangeOf(value: string): StatusRange | undefined {
  const range = own(RANGES, value);
  if (range) return range;
  const status = /^\d{3}$/.test(value) ? Number(value) : 0;
  return status >= STATUS_MIN && status <= STATUS_MAX ? { min: status, max: status } : undefined;
}

/** `succeeded`, `failed` or statuses, of which one must match; 422 `value_is_invalid` for another word. */
export const statusFilter = listFilter.transform((values, context) => {
  const ranges = values?.map((value) => rangeOf(value.trim()));
  if (!ranges?.includes(undefined)) return ranges as StatusRange[] | undefined;
  context.addIssue({ code: 'custom', message: 'value_is_invalid' });
  return [];
});

const BASE_PATH = '/api/v1';

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/**
 * Patterns (of `like`) of the paths that a filter names: without `*` a path and everything below it, with `*` for any
 * characters; with or without the base path. `/plans` matches `/api/v1/plans/x` and not `/api/v1/plans_x`.
 */
export function pathPatterns(filter: string): string[] {
  const path = `/${filter.trim().replace(/^\/+/, '')}`;
  const isWhole = path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
  if (path.includes('*')) {
    const pattern = path.split('*').map(escaped).join('%');
    return isWhole || path.startsWith('/*') ? [pattern] : [`${escaped(BASE_PATH)}${pattern}`];
  }
  const whole = `${isWhole ? '' : BASE_PATH}${path}`.replace(/\/+$/, '');
  return [escaped(whole), `${escaped(whole)}/%`];
}
