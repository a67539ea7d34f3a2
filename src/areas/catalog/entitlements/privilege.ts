import { z } from 'zod';
import { VALUE_TYPES } from '../../../engine/entitlements/privilege-value.ts';
import type { PrivilegeJson } from '../features/queries.ts';

export const PrivilegeView = z.object({
  code: z.string(),
  name: z.string().nullable(),
  value_type: z.enum(VALUE_TYPES),
  config: z.object({ select_options: z.array(z.string()).optional() }),
});
export type PrivilegeView = z.infer<typeof PrivilegeView>;

/** A privilege as the API shows it. Rule: entitlements.md#records. */
export const privilegeView = ({ code, name, value_type, select_options }: PrivilegeJson): PrivilegeView => ({
  code,
  name,
  value_type,
  config: value_type === 'select' ? { select_options } : {},
});
