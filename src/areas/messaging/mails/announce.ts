import type { Context } from '../../../platform/context.ts';
import { readMailView } from './reads.ts';

/** Tells endpoints that name it that nobody gets a mail: its row without its recipients. Rule: mails.md#the-log. */
export async function announceFailure(ctx: Context, id: string): Promise<void> {
  const { to, cc, bcc, recipients, ...object } = await readMailView(ctx, id);
  ctx.record({ webhook: { type: 'mail.failed', objectType: 'mail', objectId: id, object } });
}
