import type { z } from 'zod';
import { own } from '../../engine/own.ts';

/** Fields of an issue about its place, if it is reported under another name. */
interface Renamed {
  /** The true path, below the value at which the name was changed. */
  found: readonly PropertyKey[];
  /** How many of the last names of the issue's path replace it. */
  stands: number;
}

/** The place of an issue, whatever name it is reported under. */
export function placeOfIssue(issue: { path?: PropertyKey[]; renamed?: Renamed }): PropertyKey[] {
  const path = issue.path ?? [];
  return issue.renamed ? [...path.slice(0, path.length - issue.renamed.stands), ...issue.renamed.found] : [...path];
}

/**
 * Check that reports an error under another name than the place it was found: `rename` gets the path below the checked
 * value. Unlike other checks it also runs after failures, which it renames.
 */
export function renameErrors<Output>(rename: (path: PropertyKey[]) => PropertyKey[]): z.core.$ZodCheck<Output> {
  const check = (payload: z.core.ParsePayload) => {
    payload.issues = payload.issues.map((issue) => {
      const path = rename([...(issue.path ?? [])]);
      // An issue has one path, so its place is stored with it, and names prefixed later apply to both.
      return { ...issue, path, renamed: { found: placeOfIssue(issue), stands: path.length } };
    });
  };
  return {
    _zod: { def: { check: 'custom', when: () => true }, onattach: [], check },
  } as unknown as z.core.$ZodCheck<Output>;
}

/**
 * Check for an object whose nested fields the API reports without their parent: `invoice_grace_period` instead of
 * `billing_configuration.invoice_grace_period` (error-bodies.md#codes-by-field).
 *
 *   z.object({ shipping_address: Address }).check(flatErrors({ shipping_address: 'shipping_' }))
 */
export const flatErrors = <Output>(prefixes: Record<string, string>): z.core.$ZodCheck<Output> =>
  renameErrors(([parent, field, ...rest]) => {
    const name = String(parent);
    const prefix = own(prefixes, name);
    if (field !== undefined && prefix !== undefined) return [prefix + String(field), ...rest];
    return [parent, field, ...rest].filter((each) => each !== undefined);
  });
