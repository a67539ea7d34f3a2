import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { type Format, fill } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import type { MailContent } from '../../messaging/mails/compose-mail.ts';
import { payMark, portalMark } from '../../messaging/mails/pay-link.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import { portalTextsOf } from '../customer-portal/texts/by-locale.ts';
import type { NoticeTemplate } from '../mail-notices/mail-notice.ts';
import type { About } from '../mail-notices/notice.ts';
import { endpointContent, keyContent } from '../mail-notices/people-notices.ts';
import { endingContent, usageContent } from '../mail-notices/subscription-notices.ts';
import { failedContent, lowContent } from '../mail-notices/wallet-notices.ts';

/** A customer, a wallet and a subscription that nobody has: the links of an example lead nowhere. */
const NOBODY = '00000000-0000-7000-8000-000000000000';
const LEFT = { cents: 1_250, credits: '12.5' };
const BOUGHT = { cents: 5_000, credits: '50' };
const PRICE_CENTS = 4_900;
const NEXT_CENTS = 5_831;
const DAYS_LEFT = 3;
const CALLS = { used: '10250', limit: '10000' };

interface Example {
  about: About;
  format: Format;
  today: Temporal.PlainDate;
}

/** What a notice says about records that do not exist. */
export function exampleNotice(ctx: Context, template: NoticeTemplate, { about, format, today }: Example): MailContent {
  const { locale } = about;
  const words = portalTextsOf(locale);
  const life = { hours: ctx.config.PORTAL_TOKEN_TTL_HOURS };
  const pageOf = (of: 'wallets' | 'usage', label: string) => ({
    mark: portalMark(NOBODY as CustomerId, { of, id: NOBODY }),
    label,
  });
  const wallet = languageOf(locale, null).texts.prepaidCredits;
  const people = { ...about, customer: { id: null, name: about.issuer.name } };
  switch (template) {
    case 'wallet_low':
      return lowContent(about, {
        name: wallet,
        amount: format.amount(LEFT.cents),
        credits: format.units(LEFT.credits),
        lasts: format.days(DAYS_LEFT),
        link: pageOf('wallets', words.topUp),
        life,
      });
    case 'top_up_failed': {
      const amount = format.amount(BOUGHT.cents);
      return failedContent(about, {
        name: wallet,
        amount,
        credits: format.units(BOUGHT.credits),
        lasts: '',
        link: { mark: payMark({ type: 'Invoice', id: NOBODY }), label: fill(payTextsOf(locale).payAmount, { amount }) },
        life: { days: ctx.config.PAY_LINK_DAYS },
      });
    }
    case 'trial_ending':
    case 'subscription_ending':
      return endingContent(about, {
        template,
        name: 'Pro',
        plan: 'Pro',
        price: fill(words.per.monthly, { amount: format.amount(PRICE_CENTS) }),
        date: format.date(today.add({ days: DAYS_LEFT })),
        next: format.amount(NEXT_CENTS),
        link: pageOf('usage', mailTextsOf(locale).openPages),
        life,
      });
    case 'usage_alert':
      return usageContent(about, {
        name: 'Pro',
        metric: 'API',
        figure: format.units(CALLS.used),
        limit: format.units(CALLS.limit),
        link: pageOf('usage', mailTextsOf(locale).openPages),
        life,
      });
    case 'endpoint_disabled':
      return endpointContent(people, {
        url: 'https://hooks.example.com/billing',
        reason: 'failing',
        link: `${publicUrl(ctx.config)}/console`,
      });
    case 'key_created':
      return keyContent(people, {
        name: 'Production',
        lastFour: '4f2a',
        day: today,
        link: `${publicUrl(ctx.config)}/console`,
      });
  }
}
