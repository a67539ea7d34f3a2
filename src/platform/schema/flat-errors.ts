import type { z } from 'zod';

/**
 * Check that reports an error under another name than the place it was found: `rename` gets the path below the checked
 * value. Unlike other checks it runs after failures too, since they are what it is about.
 */
export function renameErrors<Output>(rename: (path: PropertyKey[]) => PropertyKey[]): z.core.$ZodCheck<Output> {
  const check = (payload: z.core.ParsePayload) => {
    payload.issues = payload.issues.map((issue) => ({ ...issue, path: rename([...(issue.path ?? [])]) }));
  };
  return {
    _zod: { def: { check: 'custom', when: () => true }, onattach: [], check },
  } as unknown as z.core.$ZodCheck<Output>;
}

/**
 * Check for an object whose nested fields the API reports without their parent: `invoice_grace_period` instead of
 * `billing_configuration.invoice_grace_period` (platform B.5).
 *
 *   z.object({ shipping_address: Address }).check(flatErrors({ shipping_address: 'shipping_' }))
 */
export const flatErrors = <Output>(prefixes: Record<string, string>): z.core.$ZodCheck<Output> =>
  renameErrors(([parent, field, ...rest]) => {
    const prefix = prefixes[String(parent)];
    if (field !== undefined && prefix !== undefined) return [prefix + String(field), ...rest];
    return [parent, field, ...rest].filter((each) => each !== undefined);
  });
