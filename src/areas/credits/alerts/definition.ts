import {
  type AlertType,
  isOfMetric,
  SUBSCRIPTION_ALERT_TYPES,
  WALLET_ALERT_TYPES,
} from '../../../engine/alerts/alert-types.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { FORMAT, INVALID, MANDATORY, TOO_LONG } from '../../../platform/schema/fields.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { ThresholdJson } from '../evaluate-alerts/queries.ts';
import type { GivenAlert } from './schema.ts';

/** Codes by field; `{}` when nothing is wrong. */
export type AlertFaults = Record<string, string[]>;

const MOST_THRESHOLDS = 20;
/** Longest code: an index of the database holds it. */
const CODE_MAX = 255;
const NAME_MAX = 1000;
/** Digits before and behind the point, as prices have them. */
const VALUE = /^[+-]?\d{1,25}(\.\d{1,15})?$/;

const TYPES = { subscription: SUBSCRIPTION_ALERT_TYPES, wallet: WALLET_ALERT_TYPES } as const;

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

const isObject = (value: unknown): value is GivenAlert => typeof value === 'object' && value !== null;

/** What is wrong with the type of a new alert. Rule: alerts.md#endpoints-and-fields, as all of this file. */
export function typeFaults(given: unknown, owner: keyof typeof TYPES): AlertFaults {
  if (isBlank(given)) return { alert_type: [MANDATORY, INVALID] };
  return (TYPES[owner] as readonly unknown[]).includes(given) ? {} : { alert_type: ['invalid_type'] };
}

/** Thresholds as they are stored, and what is wrong with them. */
export function readThresholds(given: unknown): { thresholds: ThresholdJson[]; faults: AlertFaults } {
  const refused = (field: string, code: string) => ({ thresholds: [], faults: { [field]: [code] } });
  if (!isBlank(given) && !Array.isArray(given)) return refused('thresholds', INVALID);
  const items = Array.isArray(given) ? given : [];
  if (items.length === 0) return refused('thresholds', MANDATORY);
  if (items.length > MOST_THRESHOLDS) return refused('thresholds', 'too_many_thresholds');
  const codes = items.map((item) => (isObject(item) ? item.code : null));
  if (codes.some((code) => isObject(code))) return refused('thresholds:code', INVALID);
  if (codes.some((code) => !isStorable(String(code)))) return refused('thresholds:code', FORMAT);
  if (items.some((item) => isObject(item) && isObject(item.recurring))) return refused('thresholds:recurring', INVALID);
  const read = items.map(readThreshold);
  const fault = read.find((each) => typeof each === 'string');
  const thresholds = read.filter((each) => typeof each !== 'string');
  const keys = thresholds.map(({ value, recurring }) => `${value} ${recurring}`);
  if (new Set(keys).size < keys.length) return refused('thresholds', 'duplicate_threshold_values');
  if (fault !== undefined) return refused('thresholds:value', fault);
  const recurring = thresholds.filter((each) => each.recurring);
  if (recurring.some(({ value }) => decimal(value).lte(0)))
    return refused('thresholds:value', 'recurring_value_is_negative');
  if (recurring.length > 1) return refused('thresholds', 'too_many_recurring_thresholds');
  return { thresholds, faults: {} };
}

/** A threshold, or the code of what is wrong with its value. */
function readThreshold(given: unknown): ThresholdJson | string {
  const { code, value, recurring } = isObject(given) ? given : {};
  if (isBlank(value)) return MANDATORY;
  if (isObject(value)) return INVALID;
  const text = typeof value === 'number' ? decimal(value).toFixed() : String(value).trim();
  if (!VALUE.test(text)) return INVALID;
  return {
    code: isBlank(code) ? null : String(code).slice(0, CODE_MAX),
    value: decimal(text).toFixed(),
    recurring: recurring === true || recurring === 'true',
  };
}

/** What is wrong with the code of an alert. */
export function codeFaults(given: unknown): AlertFaults {
  if (isBlank(given)) return { code: [MANDATORY] };
  if (typeof given === 'object') return { code: [INVALID] };
  if (!isStorable(String(given))) return { code: [FORMAT] };
  return String(given).length > CODE_MAX ? { code: [TOO_LONG] } : {};
}

export function nameFaults(given: unknown): AlertFaults {
  if (isBlank(given)) return {};
  if (typeof given === 'object') return { name: [INVALID] };
  if (!isStorable(String(given))) return { name: [FORMAT] };
  return String(given).length > NAME_MAX ? { name: [TOO_LONG] } : {};
}

/** What is wrong with the metric of an alert: some types need one, the others refuse it. */
export function metricFaults(type: AlertType, metricCode: unknown): AlertFaults {
  if (isOfMetric(type)) return isBlank(metricCode) ? { billable_metric: [MANDATORY] } : {};
  return isBlank(metricCode) ? {} : { billable_metric: ['value_must_be_blank'] };
}

/** Text of a field, null where it is blank. */
export const textOrNull = (given: unknown): string | null => (isBlank(given) ? null : String(given).trim());
