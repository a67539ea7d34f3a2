import type { PortalTexts } from './portal-texts.ts';

export const sv: PortalTexts = {
  title: 'Fakturering',
  balance: 'Saldo',
  due: 'Att betala',
  overdue: 'Förfallet',
  subscriptions: 'Abonnemang',
  states: {
    active: 'Aktivt',
    pending: 'Börjar senare',
    incomplete: 'Väntar på betalning',
    terminated: 'Avslutat',
  },
  nextBilling: 'Nästa fakturering {date}',
  startsOn: 'Börjar {date}',
  endsOn: 'Slutar {date}',
  endedOn: 'Avslutades {date}',
  usage: 'Aktuell förbrukning',
  usageUnknown: 'Förbrukningen kan inte visas just nu.',
  credits: '{credits} krediter',
  afterUsage: '{amount} efter aktuell förbrukning',
  expiresOn: 'Upphör {date}',
  invoices: 'Fakturor',
  receipts: 'Betalningskvitton',
  payment: {
    paid: 'Betald',
    settled: 'Reglerad',
    underWay: 'Betalning på väg',
    partlyPaid: 'Delvis betald',
    overdue: 'Förfallen',
    failed: 'Betalningen misslyckades',
    open: 'Obetald',
  },
  pay: 'Betala',
  download: 'Ladda ner PDF',
  left: '{amount} kvar',
  nothing: 'Inget här ännu.',
  newer: 'Nyare',
  older: 'Äldre',
  back: 'Tillbaka till översikten',
  notices: {
    preparing: {
      title: 'Dokumentet förbereds',
      text: 'Sidan hämtar det av sig själv om några sekunder.',
    },
    unauthorized: {
      title: 'Länken gäller inte längre',
      text: 'Be din leverantör om en ny länk.',
    },
    notFound: {
      title: 'Sidan finns inte',
      text: 'Det du söker finns inte här.',
    },
    tooMany: {
      title: 'För många förfrågningar',
      text: 'Vänta en stund och ladda om sidan.',
    },
    failed: {
      title: 'Något gick fel',
      text: 'Försök igen om några minuter.',
    },
  },
};
