import type { PayTexts } from './pay-texts.ts';

export const de: PayTexts = {
  payAmount: '{amount} bezahlen',
  payHereUntil: 'Diese Rechnung hier bezahlen (der Link gilt bis {date})',
  more: 'und {count} weitere',
  paid: { title: 'Bezahlt, vielen Dank', text: 'Ihre Zahlung ist eingegangen.' },
  processing: {
    title: 'Ihre Zahlung ist unterwegs',
    text: 'Sie müssen nichts weiter tun. Sobald sie eingegangen ist, wird sie bestätigt.',
  },
  expectedOn: 'Zahlungseingang erwartet am {date}',
  confirm: {
    title: 'Bitte bestätigen Sie Ihre Zahlung',
    text: 'Ihre Bank bittet Sie um die Bestätigung.',
    button: 'Zahlung bestätigen',
  },
  voided: { title: 'Diese Rechnung wurde storniert', text: 'Es ist nichts zu bezahlen.' },
  nothingDue: { title: 'Nichts zu bezahlen', text: 'Es ist kein Betrag mehr offen.' },
  transfer: {
    title: 'Per Überweisung bezahlen',
    text: 'Bitte überweisen Sie den Betrag auf dieses Konto und geben Sie die Referenz an.',
    holder: 'Kontoinhaber',
  },
  ask: 'Bitte fragen Sie {issuer}, wie Sie bezahlen können.',
  opening: {
    title: 'Einen Moment bitte',
    text: 'Sie werden zur Zahlungsseite weitergeleitet.',
    link: 'Weiter zur Zahlungsseite',
  },
  tryAgain: {
    title: 'Die Zahlungsseite lässt sich gerade nicht öffnen',
    text: 'Es wurde nichts abgebucht. Bitte versuchen Sie es in einer Minute noch einmal.',
    button: 'Noch einmal versuchen',
  },
  expired: {
    title: 'Dieser Link ist abgelaufen',
    text: 'Bitte lassen Sie sich vom Absender der Rechnung einen neuen geben.',
  },
  mail: {
    refused: 'Ihr Zahlungsmittel konnte nicht belastet werden.',
    payHere: 'Hier bezahlen (der Link gilt {days} Tage):',
    onPage: 'Die Rechnungen lassen sich auf dieser Seite öffnen.',
    view: 'Rechnungen ansehen',
    worksFor: 'Der Link gilt {days} Tage.',
  },
};
