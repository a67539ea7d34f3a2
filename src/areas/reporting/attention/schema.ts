import { z } from 'zod';
import { ATTENTION_KINDS, SEVERITIES } from './kinds.ts';

export const Attention = z.object({
  attention: z.array(
    z.object({
      kind: z.enum(ATTENTION_KINDS.map(({ kind }) => kind)),
      severity: z.enum(SEVERITIES),
      count: z.int(),
      more: z.boolean(),
      since: z.iso.datetime(),
      path: z.string(),
      query: z.string(),
    }),
  ),
});
export type Attention = z.infer<typeof Attention>;
