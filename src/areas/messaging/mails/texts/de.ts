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
    wallet_low: {
      subject: '{seller}: noch {amount} in {wallet}',
      intro: 'Ihr Guthaben geht zur Neige.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: Aufladung von {amount} fehlgeschlagen',
      intro:
        'Ihre Aufladung konnte nicht eingezogen werden, es wurde nichts gutgeschrieben. Bitte prüfen Sie Ihre Zahlungsart, oder bezahlen Sie auf anderem Weg.',
      closing: '',
    },
    trial_ending: {
      subject: 'Ihre Testphase bei {seller} endet am {due_date}',
      intro:
        'Ihre Testphase endet bald. Danach läuft das Abonnement kostenpflichtig weiter, ohne dass Sie etwas tun müssen.',
      closing: 'Wenn Sie das nicht möchten, melden Sie sich bitte vorher bei uns.',
    },
    subscription_ending: {
      subject: 'Ihr Abonnement bei {seller} endet am {due_date}',
      intro: 'Ihr Abonnement endet bald. Bis dahin ändert sich nichts.',
      closing: 'Wenn Sie es fortsetzen möchten, melden Sie sich bitte bei uns.',
    },
    usage_alert: {
      subject: '{seller}: Nutzung von {subscription} hat {limit} erreicht',
      intro: 'Ihre Nutzung hat eine Grenze erreicht, über die Sie benachrichtigt werden wollten.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'Ein Webhook-Endpunkt von {seller} wurde abgeschaltet',
      intro:
        'An diesen Endpunkt wird nichts mehr gesendet. Neue Ereignisse werden für ihn erst wieder gespeichert, wenn er eingeschaltet ist.',
      closing: '',
    },
    key_created: {
      subject: 'Ein neuer API-Schlüssel von {seller}',
      intro: 'Ein API-Schlüssel wurde erstellt. Wer ihn hat, kann alles tun, was seine Rechte erlauben.',
      closing: 'Wenn Sie davon nichts wissen, löschen Sie den Schlüssel bitte.',
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
  notices: {
    lasts: 'reicht noch etwa {days}',
    trialEnds: 'Ende Ihrer Testphase von {name}',
    subscriptionEnds: 'Ende Ihres Abonnements {name}',
    limit: 'Grenze',
    endpoint: 'Endpunkt',
    reason: 'Grund',
    reasons: {
      failing: 'Seit fünf Tagen sind alle Zustellungen fehlgeschlagen',
      gone: 'Er hat geantwortet, dass es ihn nicht mehr gibt (410)',
    },
    openWebhooks: 'Webhooks öffnen',
    name: 'Name',
    lastFour: 'Endet auf',
    createdOn: 'Erstellt am',
    openKeys: 'API-Schlüssel öffnen',
  },
};
