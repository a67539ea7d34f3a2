import { announcement } from '../../platform/reactions.ts';
import type { PendingMail } from './mails/queries.ts';

/** Some recipients of a mail will never get it: `mail` names only them. */
export const mailFailed = announcement<{ mail: PendingMail; error: string }>('mail.failed');
