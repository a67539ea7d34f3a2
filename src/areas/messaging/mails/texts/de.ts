import type { MailTexts } from './mail-texts.ts';

export const de: MailTexts = {
  words: {
    invoice: {
      subject: 'Rechnung {number} von {seller}: {amount}, zahlbar bis {due_date}',
      intro: 'Ihre Rechnung {number} liegt als PDF bei.',
      closing: '',
    },
    credit_note: {
      subject: 'Gutschrift {number} von {seller}: {amount}',
      intro: 'Ihre Gutschrift {number} liegt als PDF bei.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Zahlungsbeleg {number} von {seller}: {amount}',
      intro: 'Vielen Dank für Ihre Zahlung. Der Beleg {number} liegt als PDF bei.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Erinnerung: {amount} an {seller} überfällig',
      intro: 'Vielleicht ist es Ihnen entgangen: Diese Rechnungen sind noch offen.',
      closing: 'Falls Sie inzwischen bezahlt haben, ist diese Nachricht gegenstandslos.',
    },
    payment_request: {
      subject: '{seller}: bitte bezahlen Sie {amount}',
      intro: 'Diese Rechnungen von {seller} sind überfällig:',
      closing: '',
    },
    payment_action: {
      subject: '{seller}: Bitte bestätigen Sie Ihre Zahlung',
      intro: 'Diese Zahlung wartet auf Sie.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller}: Zahlung von {amount} fehlgeschlagen',
      intro: 'Rechnung {number} konnte nicht eingezogen werden. Sie können auf anderem Weg bezahlen.',
      closing: '',
    },
    portal_link: {
      subject: 'Ihr Link zu Ihren Seiten bei {seller}',
      intro: 'Hier ist der neue Link zu Ihren Rechnungen, Ihrer Nutzung und Ihren Zahlungsarten.',
      closing: 'Wenn Sie ihn nicht angefordert haben, brauchen Sie nichts zu tun.',
    },
    details_changed: {
      subject: 'Ihre Rechnungsdaten bei {seller} wurden geändert',
      intro:
        'Die E-Mail-Adresse für Ihre Rechnungen wurde auf Ihren Seiten geändert. An diese Adresse kommen keine Rechnungen mehr.',
      closing: 'Wenn Sie das nicht waren, antworten Sie bitte auf diese Mail.',
    },
  },
  settled: 'Rechnung {number} von {seller}',
  firm: {
    subject: 'Weiterhin überfällig: {amount} an {seller}',
    intro: 'Trotz unserer Erinnerung sind diese Rechnungen noch offen. Bitte bezahlen Sie sie jetzt.',
  },
  final: {
    subject: 'Letzte Erinnerung: {amount} an {seller}',
    intro:
      'Dies ist die letzte Erinnerung an diese überfälligen Rechnungen. Bitte bezahlen Sie umgehend, oder melden Sie sich bei uns.',
  },
  overdueBy: '{days} überfällig',
  pages: 'Rechnungen und Nutzung ansehen',
  worksFor: 'Der Link gilt {hours} Stunden.',
  openPages: 'Meine Seiten öffnen',
  keepLink:
    'Der Link funktioniert {hours} Stunden. Wer ihn hat, kann Ihre Seiten öffnen: Bitte geben Sie ihn nicht weiter.',
};
