import type { Offer } from '../../parts/offers.tsx';
import { t } from '../../texts/en.ts';
import type { Order, OrderForm, QuoteVersion } from './records.ts';

const words = t.quotes;

const versionPath = ({ svc_id }: QuoteVersion) => `/quote_versions/${svc_id}`;

export const approves = (version: QuoteVersion): Offer | false =>
  version.status === 'draft' && {
    text: words.approve,
    needs: 'quote',
    isMain: true,
    about: words.approveAbout,
    fields: [{ name: 'expires_at', label: words.expires, type: 'date', hint: words.expiresHint }],
    command: ({ expires_at }) => ({
      method: 'POST',
      path: `${versionPath(version)}/approve`,
      body: expires_at ? { expires_at: `${expires_at}T23:59:59Z` } : {},
    }),
  };

export const clones = (version: QuoteVersion): Offer => ({
  text: words.clone,
  needs: 'quote',
  about: words.cloneAbout,
  command: () => ({ method: 'POST', path: `${versionPath(version)}/clone` }),
});

export const voidsVersion = (version: QuoteVersion, number: string): Offer | false =>
  version.status !== 'voided' && {
    text: words.void,
    needs: 'quote',
    typed: number,
    about: words.voidAbout,
    command: () => ({ method: 'POST', path: `${versionPath(version)}/void` }),
  };

export const signs = ({ svc_id, status }: OrderForm): Offer | false =>
  status === 'generated' && {
    text: words.sign,
    needs: 'order_form',
    isMain: true,
    about: words.signAbout,
    fields: [
      {
        name: 'execution_mode',
        label: words.mode,
        type: 'select',
        value: 'execute_in_svc',
        options: [
          ['execute_in_svc', words.modeExecute],
          ['order_only', words.modeOrderOnly],
        ],
      },
    ],
    command: ({ execution_mode }) => ({
      method: 'POST',
      path: `/order_forms/${svc_id}/mark_as_signed`,
      body: { order_form: { execution_mode } },
    }),
  };

export const voidsForm = ({ svc_id, status, number }: OrderForm): Offer | false =>
  status === 'generated' && {
    text: words.voidForm,
    needs: 'order_form',
    typed: number,
    about: words.voidFormAbout,
    command: () => ({ method: 'POST', path: `/order_forms/${svc_id}/void` }),
  };

export const executes = ({ svc_id, status }: Order): Offer | false =>
  status !== 'executed' && {
    text: words.execute,
    needs: 'order',
    about: words.executeAbout,
    command: () => ({
      method: 'POST',
      path: `/orders/${svc_id}/execute`,
      body: { order: { execution_mode: 'execute_in_svc' } },
    }),
  };
