import { z } from 'zod';
import { boolean, optionalText, text } from '../../../platform/schema/fields.ts';
import { clearable, resettable } from '../../../platform/schema/typed-text.ts';

const NAME_LETTERS = 100;
/** RFC 5321: 64 letters, a sign, 255 letters. */
const ADDRESS_LETTERS = 320;
/** More than a code has, so that blanks around it are no fault. */
const CODE_LETTERS = 20;
const FORMAT = 'invalid_email_format';

/** One address in plain letters, which cannot become a header, a list or a name. */
const address = () =>
  clearable(
    z
      .string(FORMAT)
      .max(ADDRESS_LETTERS, FORMAT)
      .transform((given) => given.trim())
      .pipe(z.email(FORMAT)),
  );

/** A name on one line. */
const name = () =>
  optionalText({ max: NAME_LETTERS }).transform((given) => {
    if (typeof given !== 'string') return given;
    const line = given.replaceAll(/[\s\p{Cc}\uE000-\uE002]+/gu, ' ').trim();
    return line === '' ? null : line;
  });

/** Input of `PUT /billing_entities/{code}/mail_sender`: what is absent stays, null clears. Rule: mails.md#senders. */
export const MailSenderUpdate = z.object({
  from_name: name(),
  from_address: address(),
  reply_to: address(),
  bcc_issuer: resettable(boolean(), false),
});
export type MailSenderUpdate = z.output<typeof MailSenderUpdate>;

export const MailSenderVerification = z.object({ code: text({ max: CODE_LETTERS }).transform((code) => code.trim()) });
export type MailSenderVerification = z.output<typeof MailSenderVerification>;

export const MailSenderEnvelope = z.object({
  mail_sender: z.object({
    from_name: z.string().nullable(),
    from_address: z.string().nullable(),
    reply_to: z.string().nullable(),
    bcc_issuer: z.boolean(),
    status: z.enum(['default', 'unverified', 'verified']),
  }),
});
export type MailSenderEnvelope = z.infer<typeof MailSenderEnvelope>;
