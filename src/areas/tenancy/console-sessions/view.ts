import { seconds } from '../../../platform/schema/view.ts';
import type { ConsoleSessionRow } from './queries.ts';
import type { ConsoleSessionView } from './schema.ts';

export const consoleSessionView = (session: ConsoleSessionRow): ConsoleSessionView => ({
  svc_id: session.id,
  kind: session.kind,
  api_key_last4: session.last_four,
  user_email: null,
  user_agent: session.user_agent,
  remote_address: session.remote_address,
  created_at: seconds(session.created_at),
  last_seen_at: seconds(session.last_seen_at),
  expires_at: seconds(session.expires_at),
});
