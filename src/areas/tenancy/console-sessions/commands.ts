import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { getConsoleSession } from './queries.ts';
import { consoleSessionView } from './view.ts';
import { takeOut } from './writes.ts';

/**
 * Takes the organization out of a session, from its next request on. Other organizations of the session stay.
 *
 * @throws Refusal 404 console_session
 */
export async function endConsoleSession(ctx: Context, { svc_id }: { svc_id: string }) {
  const now = realNow();
  const session = await getConsoleSession(ctx, svc_id, { now, idleMinutes: ctx.config.CONSOLE_IDLE_MINUTES });
  await takeOut(ctx, { sessionId: session.id, now });
  return { console_session: consoleSessionView(session) };
}
