import type { MailTexts } from './mail-texts.ts';

export const sv: MailTexts = {
  words: {
    invoice: {
      subject: 'Faktura {number} från {seller}: {amount}, förfaller {due_date}',
      intro: 'Din faktura {number} är bifogad som PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Kreditnota {number} från {seller}: {amount}',
      intro: 'Din kreditnota {number} är bifogad som PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Kvitto {number} från {seller}: {amount}',
      intro: 'Tack för din betalning. Kvittot {number} är bifogat som PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Påminnelse: {amount} till {seller} är förfallet',
      intro: 'Det kan ha undgått dig: de här fakturorna är fortfarande obetalda.',
      closing: 'Om du har betalat under tiden kan du bortse från det här meddelandet.',
    },
    payment_request: {
      subject: '{seller}: betala {amount}',
      intro: 'De här fakturorna från {seller} är förfallna:',
      closing: '',
    },
    payment_action: {
      subject: '{seller}: Bekräfta din betalning',
      intro: 'Den här betalningen väntar på dig.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller}: betalningen på {amount} misslyckades',
      intro: 'Faktura {number} kunde inte debiteras. Du kan betala den på ett annat sätt.',
      closing: '',
    },
    portal_link: {
      subject: 'Länken till dina sidor hos {seller}',
      intro: 'Här är den nya länken till dina fakturor, din förbrukning och dina betalsätt.',
      closing: 'Om du inte har bett om den behöver du inte göra något.',
    },
    details_changed: {
      subject: 'Dina faktureringsuppgifter hos {seller} har ändrats',
      intro:
        'E-postadressen för dina fakturor ändrades på dina sidor. Fakturor kommer inte längre till den här adressen.',
      closing: 'Om det inte var du, svara på detta mejl.',
    },
    wallet_low: {
      subject: '{seller}: {amount} kvar i {wallet}',
      intro: 'Ditt förbetalda saldo är snart slut.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: påfyllning på {amount} misslyckades',
      intro:
        'Påfyllningen kunde inte debiteras och inga krediter lades till. Kontrollera ditt betalsätt eller betala på ett annat sätt.',
      closing: '',
    },
    trial_ending: {
      subject: 'Din provperiod hos {seller} slutar {due_date}',
      intro:
        'Din provperiod är snart slut. Därefter fortsätter abonnemanget mot betalning, utan att du behöver göra något.',
      closing: 'Om du inte vill fortsätta, kontakta oss innan dess.',
    },
    subscription_ending: {
      subject: 'Ditt abonnemang hos {seller} slutar {due_date}',
      intro: 'Ditt abonnemang är snart slut. Till dess ändras ingenting.',
      closing: 'Om du vill fortsätta, kontakta oss.',
    },
    usage_alert: {
      subject: '{seller}: förbrukningen av {subscription} har nått {limit}',
      intro: 'Din förbrukning har nått en gräns som du ville bli underrättad om.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'En webhook-slutpunkt för {seller} har stängts av',
      intro:
        'Inget skickas längre till den här slutpunkten. Nya händelser sparas inte för den förrän den slås på igen.',
      closing: '',
    },
    key_created: {
      subject: 'En ny API-nyckel för {seller}',
      intro: 'En API-nyckel har skapats. Den som har den kan göra det som behörigheterna tillåter.',
      closing: 'Om du inte känner till den, ta bort nyckeln.',
    },
  },
  settled: 'Faktura {number} från {seller}',
  firm: {
    subject: 'Fortfarande förfallet: {amount} till {seller}',
    intro: 'Trots vår påminnelse är de här fakturorna fortfarande obetalda. Betala dem nu.',
  },
  final: {
    subject: 'Sista påminnelsen: {amount} till {seller} är förfallet',
    intro: 'Det här är den sista påminnelsen om dessa förfallna fakturor. Betala genast eller kontakta oss.',
  },
  overdueBy: '{days} försenad',
  pages: 'Se dina fakturor och din förbrukning',
  worksFor: 'Länken fungerar i {hours} timmar.',
  openPages: 'Öppna mina sidor',
  keepLink: 'Länken fungerar i {hours} timmar. Den som har den kan öppna dina sidor, så skicka den inte vidare.',
  notices: {
    lasts: 'räcker i ungefär {days}',
    trialEnds: 'Slut på provperioden för {name}',
    subscriptionEnds: 'Slut på abonnemanget {name}',
    limit: 'Gräns',
    endpoint: 'Slutpunkt',
    reason: 'Orsak',
    reasons: {
      failing: 'Alla leveranser har misslyckats i fem dagar',
      gone: 'Den svarade att den inte finns kvar (410)',
    },
    openWebhooks: 'Öppna webhooks',
    name: 'Namn',
    lastFour: 'Slutar på',
    createdOn: 'Skapad',
    openKeys: 'Öppna API-nycklarna',
  },
};
