import type { PortalTexts } from './portal-texts.ts';

export const de: PortalTexts = {
  title: 'Abrechnung',
  balance: 'Saldo',
  due: 'Fällig',
  overdue: 'Überfällig',
  subscriptions: 'Abonnements',
  states: {
    active: 'Aktiv',
    pending: 'Beginnt später',
    incomplete: 'Wartet auf Zahlung',
    terminated: 'Beendet',
  },
  nextBilling: 'Nächste Abrechnung am {date}',
  startsOn: 'Beginnt am {date}',
  endsOn: 'Endet am {date}',
  endedOn: 'Beendet am {date}',
  usage: 'Aktuelle Nutzung',
  usageUnknown: 'Die Nutzung kann zurzeit nicht angezeigt werden.',
  credits: '{credits} Credits',
  afterUsage: '{amount} nach aktueller Nutzung',
  expiresOn: 'Verfällt am {date}',
  invoices: 'Rechnungen',
  receipts: 'Zahlungsbelege',
  payment: {
    paid: 'Bezahlt',
    settled: 'Ausgeglichen',
    underWay: 'Zahlung unterwegs',
    partlyPaid: 'Teilweise bezahlt',
    overdue: 'Überfällig',
    failed: 'Zahlung fehlgeschlagen',
    open: 'Offen',
  },
  pay: 'Bezahlen',
  download: 'PDF herunterladen',
  left: '{amount} übrig',
  nothing: 'Noch nichts vorhanden.',
  newer: 'Neuere',
  older: 'Ältere',
  back: 'Zurück zur Übersicht',
  notices: {
    preparing: {
      title: 'Ihr Dokument wird vorbereitet',
      text: 'Diese Seite lädt es in wenigen Sekunden von selbst.',
    },
    unauthorized: {
      title: 'Dieser Link ist nicht mehr gültig',
      text: 'Bitte lassen Sie sich von Ihrem Anbieter einen neuen Link geben.',
    },
    notFound: {
      title: 'Diese Seite gibt es nicht',
      text: 'Was Sie suchen, ist hier nicht zu finden.',
    },
    tooMany: {
      title: 'Zu viele Anfragen',
      text: 'Bitte warten Sie einen Moment und laden Sie die Seite neu.',
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: 'Bitte versuchen Sie es in einigen Minuten noch einmal.',
    },
  },
};
