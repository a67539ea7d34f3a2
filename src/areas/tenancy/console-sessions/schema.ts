import { z } from 'zod';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';

/** A living session of the console that holds this organization. Rule: console.md#sessions. */
export const ConsoleSessionView = z.object({
  svc_id: z.uuid(),
  kind: z.enum(['key', 'member']),
  api_key_last4: z.string().nullable(),
  user_email: z.string().nullable(),
  user_agent: z.string().nullable(),
  remote_address: z.string(),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type ConsoleSessionView = z.infer<typeof ConsoleSessionView>;

export const ConsoleSessionEnvelope = z.object({ console_session: ConsoleSessionView });
export const ConsoleSessionList = z.object({ console_sessions: z.array(ConsoleSessionView), meta: PageMeta });
export const ConsoleSessionsQuery = z.object(pageQuery);
export type ConsoleSessionsQuery = z.infer<typeof ConsoleSessionsQuery>;
