import type { MailTexts } from './mail-texts.ts';

export const nb: MailTexts = {
  words: {
    invoice: {
      subject: 'Faktura {number} fra {seller}: {amount}, forfaller {due_date}',
      intro: 'Fakturaen {number} er vedlagt som PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Kreditnota {number} fra {seller}: {amount}',
      intro: 'Kreditnotaen {number} er vedlagt som PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Kvittering {number} fra {seller}: {amount}',
      intro: 'Takk for betalingen. Kvitteringen {number} er vedlagt som PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Påminnelse: {amount} til {seller} er forfalt',
      intro: 'Kanskje du ikke har fått det med deg: disse fakturaene er fortsatt åpne.',
      closing: 'Hvis du har betalt i mellomtiden, kan du se bort fra denne meldingen.',
    },
    payment_request: {
      subject: '{seller}: betal {amount}',
      intro: 'Disse fakturaene fra {seller} er forfalt:',
      closing: '',
    },
    payment_action: {
      subject: '{seller}: Bekreft betalingen din',
      intro: 'Denne betalingen venter på deg.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller}: betalingen på {amount} mislyktes',
      intro: 'Fakturaen {number} kunne ikke belastes. Du kan betale den på en annen måte.',
      closing: '',
    },
    portal_link: {
      subject: 'Lenken til sidene dine hos {seller}',
      intro: 'Her er den nye lenken til fakturaene, forbruket og betalingsmåtene dine.',
      closing: 'Hvis du ikke har bedt om den, trenger du ikke å gjøre noe.',
    },
    details_changed: {
      subject: 'Fakturaopplysningene dine hos {seller} er endret',
      intro:
        'E-postadressen for fakturaene ble endret på sidene dine. Fakturaer kommer ikke lenger til denne adressen.',
      closing: 'Hvis det ikke var deg, svar på denne e-posten.',
    },
    wallet_low: {
      subject: '{seller}: {amount} igjen i {wallet}',
      intro: 'Den forhåndsbetalte saldoen din er snart brukt opp.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: påfyll på {amount} mislyktes',
      intro:
        'Påfyllet kunne ikke belastes, og ingen kreditter ble lagt til. Sjekk betalingsmåten din, eller betal på en annen måte.',
      closing: '',
    },
    trial_ending: {
      subject: 'Prøveperioden din hos {seller} avsluttes {due_date}',
      intro:
        'Prøveperioden er snart over. Deretter fortsetter abonnementet mot betaling, uten at du trenger å gjøre noe.',
      closing: 'Hvis du ikke vil fortsette, ta kontakt med oss før det.',
    },
    subscription_ending: {
      subject: 'Abonnementet ditt hos {seller} avsluttes {due_date}',
      intro: 'Abonnementet ditt avsluttes snart. Inntil da endres ingenting.',
      closing: 'Hvis du vil fortsette, ta kontakt med oss.',
    },
    usage_alert: {
      subject: '{seller}: forbruket av {subscription} har nådd {limit}',
      intro: 'Forbruket ditt har nådd en grense som du ville ha beskjed om.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'Et webhook-endepunkt hos {seller} ble slått av',
      intro: 'Ingenting sendes lenger til dette endepunktet. Nye hendelser lagres ikke for det før det slås på igjen.',
      closing: '',
    },
    key_created: {
      subject: 'En ny API-nøkkel for {seller}',
      intro: 'En API-nøkkel ble opprettet. Den som har den, kan gjøre det som rettighetene tillater.',
      closing: 'Hvis du ikke kjenner til den, slett nøkkelen.',
    },
  },
  settled: 'Faktura {number} fra {seller}',
  firm: {
    subject: 'Fortsatt forfalt: {amount} til {seller}',
    intro: 'Til tross for påminnelsen er disse fakturaene fortsatt åpne. Vennligst betal dem nå.',
  },
  final: {
    subject: 'Siste påminnelse: {amount} til {seller} er forfalt',
    intro: 'Dette er siste påminnelse om disse forfalte fakturaene. Vennligst betal straks, eller ta kontakt med oss.',
  },
  overdueBy: '{days} over forfall',
  pages: 'Se fakturaene og forbruket ditt',
  worksFor: 'Lenken virker i {hours} timer.',
  openPages: 'Åpne sidene mine',
  keepLink: 'Lenken virker i {hours} timer. Den som har den, kan åpne sidene dine, så ikke gi den videre.',
  notices: {
    lasts: 'varer i omtrent {days}',
    trialEnds: 'Slutt på prøveperioden for {name}',
    subscriptionEnds: 'Slutt på abonnementet {name}',
    limit: 'Grense',
    endpoint: 'Endepunkt',
    reason: 'Årsak',
    reasons: {
      failing: 'Alle leveringer har mislyktes i fem dager',
      gone: 'Det svarte at det ikke finnes lenger (410)',
    },
    openWebhooks: 'Åpne webhooks',
    name: 'Navn',
    lastFour: 'Slutter på',
    createdOn: 'Opprettet',
    openKeys: 'Åpne API-nøklene',
  },
};
