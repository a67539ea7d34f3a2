import type { z } from 'zod';
import type { FoundPlace } from '../found-places.ts';
import { type FieldErrors, type Refusal, refuse } from '../refusal.ts';
import { INVALID, MANDATORY, OUT_OF_RANGE, TOO_LONG } from './fields.ts';
import { placeOfIssue } from './flat-errors.ts';
import { ISSUES_MAX } from './sizes.ts';

// The library's own messages start with a capital.
const CODE = /^[a-z][a-z0-9_]*$|^[a-z].*[:[]/;

/**
 * All field errors of an input, refused together: `{field: [codes]}`, nested fields with dotted keys. A rule without
 * its own code gets that of its kind. Only the first hundred errors are reported.
 *
 * isQuery whether the input is the query, not the body
 */
export function refuseIssues(error: z.ZodError, { isQuery = false } = {}): Refusal {
  // A map, because a field may be named like a member of every object.
  const details = new Map<string, Set<string>>();
  const places: FoundPlace[] = [];
  const issues = error.issues.slice(0, ISSUES_MAX);
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(fieldOf));
  for (const issue of issues) {
    const field = fieldOf(issue);
    // Anything with a length is measured, even a text in place of a list.
    if (mistyped.has(field) && (issue.code === 'too_big' || issue.code === 'too_small')) continue;
    const code = codeOf(issue);
    details.set(field, (details.get(field) ?? new Set()).add(code));
    const path = placeOfIssue(issue).map(nameOrIndex);
    places.push({ field, code, path, isQuery, ...allowedBy(issue), ...reasonOf(issue) });
  }
  const errors: FieldErrors = Object.fromEntries([...details].map(([field, codes]) => [field, [...codes]]));
  return refuse.invalid(errors, places);
}

const nameOrIndex = (key: PropertyKey): string | number => (typeof key === 'number' ? key : String(key));

const allowedBy = (issue: z.core.$ZodIssue) => (issue.code === 'invalid_value' ? { allowed: issue.values } : {});

/** Reason of a refusal by one of our checks, from its `params`. */
function reasonOf(issue: z.core.$ZodIssue): { reason?: string } {
  const reason = issue.code === 'custom' ? issue.params?.reason : undefined;
  return typeof reason === 'string' ? { reason } : {};
}

const fieldOf = ({ path }: z.core.$ZodIssue): string => (path.length === 0 ? 'base' : path.join('.'));

function codeOf(issue: z.core.$ZodIssue): string {
  if (CODE.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      // The value itself is no longer available here, only in the library's message.
      return /received (?:undefined|null)$/.test(issue.message) ? MANDATORY : INVALID;
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array' ? TOO_LONG : OUT_OF_RANGE;
    case 'too_small':
      return issue.origin === 'string' ? MANDATORY : OUT_OF_RANGE;
    default:
      return INVALID;
  }
}
