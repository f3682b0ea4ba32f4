//! The ways in which one thing goes by two names.
use std::collections::BTreeSet;

use halma_core::text::similarity::edit_distance;

use crate::store::{Id, NameKey, hash};
use crate::terms::{PARTICLES, acronyms, form, is_abbreviation};

/// Words that say which of several: names that differ in one of them are never the same.
const TELLING: &str = "i ii iii iv v vi vii viii ix x xi xii first second third fourth fifth sixth seventh eighth \
    ninth tenth north south east west northern southern eastern western upper lower junior \
    senior jr sr men women mens womens old new one two three four five six seven eight nine \
    ten";

/// Endings of the names of companies.
const COMPANY: &str =
    "company co inc incorporated corp corporation ltd limited llc plc gmbh ag sa nv";

/// What stands before the names of people.
const HONORIFICS: &str = "mr mrs ms dr doctor sir dame lord lady president prof professor senator governor general \
    captain colonel judge justice reverend rev";

/// Whether a list has a word.
fn holds(list: &str, word: &str) -> bool {
    list.split(' ').any(|entry| entry == word)
}

/// The block of a form with the names to which texts give it as a short form.
pub(crate) fn declared_block(form: &str) -> String {
    format!("d {form}")
}

/// A block as it is stored.
pub(crate) fn block_id(block: &str) -> Id {
    hash(&[block.as_bytes()])
}

/// A form as it is stored.
pub(crate) fn form_id(form: &str) -> Id {
    hash(&[form.as_bytes()])
}

/// How two names are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameSimilarity {
    /// Other spelling of the same words: `Mueller`, `Müller`.
    Spelling,
    /// The same words run together: `Face Book`, `Facebook`.
    Joined,
    /// `The Ford Motor Company`, `Ford Motor Co.`
    Company,
    /// `Sir Winston Churchill`, `Winston Churchill`.
    Honorific,
    /// `John F. Kennedy`, `John Fitzgerald Kennedy`.
    MiddleName,
    /// The same without a middle name: `John Kennedy`.
    MissingMiddle,
    /// `J. R. R. Tolkien`, `John Ronald Reuel Tolkien`.
    Initials,
    /// The same with one initial only: `J. Smith`.
    OneInitial,
    /// `Jaws (film)`, `Jaws`.
    Qualifier,
    /// `WHO`, `World Health Organization`, where no text says so.
    Abbreviation,
    /// A letter or two differ.
    Near,
}

/// A name, taken apart once.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) form: String,
    tokens: Vec<String>,
    /// Without what companies and people have around their names.
    bare: Vec<String>,
    /// The name before a bracket at its end, and what is in that.
    pub(crate) qualifier: Option<(String, String)>,
    capitals: bool,
    /// The skeletons of both, which are compared most often.
    run: String,
    bare_run: String,
}

impl Name {
    pub(crate) fn new(shown: &str) -> Self {
        let name_form = form(shown);
        let tokens: Vec<String> = name_form.split(' ').map(str::to_owned).collect();
        let bare = bare(&tokens);
        let qualifier = shown.trim().strip_suffix(')').and_then(|open| open.rsplit_once('('));
        let qualifier = qualifier
            .map(|(base, inner)| (form(base), form(inner)))
            .filter(|(base, inner)| !base.is_empty() && !inner.is_empty());
        let (run, bare_run) = (skeleton(&tokens), skeleton(&bare));
        let capitals = is_abbreviation(shown);
        Self { form: name_form, tokens, bare, qualifier, capitals, run, bare_run }
    }

    /// Whether it may be the name of a person, by its looks.
    fn personal(&self) -> bool {
        let plain = |t: &String| {
            !PARTICLES.contains(&t.as_str()) && t.chars().all(|c| c.is_alphabetic() || c == '-')
        };
        (2..=5).contains(&self.bare.len()) && self.bare.iter().all(plain)
    }

    /// Keys under which names that may be alike meet.
    pub(crate) fn blocks(&self) -> Vec<String> {
        let mut blocks = vec![format!("s {}", self.bare_run)];
        if let Some((base, _)) = &self.qualifier {
            blocks.push(format!("s {}", base.replace(' ', "")));
        }
        if self.personal() {
            let initial = self.bare[0].chars().next().unwrap_or(' ');
            blocks.push(format!("p {initial} {}", self.bare[self.bare.len() - 1]));
        }
        if self.capitals {
            blocks.push(format!("a {}", self.form));
        }
        blocks.extend(acronyms(&self.tokens).into_iter().map(|short| format!("a {short}")));
        if self.tokens.len() > 1 {
            let head = |word: &str| word.chars().take(2).collect::<String>();
            let (first, last) = (&self.tokens[0], &self.tokens[self.tokens.len() - 1]);
            blocks.push(format!("n {} {last}", head(first)));
            blocks.push(format!("n {first} {}", head(last)));
        }
        blocks.sort();
        blocks.dedup();
        blocks
    }

    /// The ids of the blocks in which it meets names that may be alike, and those that declare it.
    pub(crate) fn block_ids(&self) -> Vec<Id> {
        let blocks = self.blocks().into_iter().chain([declared_block(&self.form)]);
        blocks.map(|block| block_id(&block)).collect()
    }

    /// The name as it is compared: two names with the same key are like the same others.
    pub(crate) fn key(&self) -> NameKey {
        let (base, inner) = self
            .qualifier
            .as_ref()
            .map_or(("", ""), |(base, inner)| (base.as_str(), inner.as_str()));
        let variant =
            hash(&[&[u8::from(self.capitals)], base.as_bytes(), inner.as_bytes()]) >> u32::BITS;
        NameKey { form: form_id(&self.form), variant: u32::try_from(variant).unwrap_or_default() }
    }

    /// Its last word, where it has several.
    pub(crate) fn last_word(&self) -> Option<&str> {
        self.form.rsplit_once(' ').map(|(_, last)| last)
    }

    /// Whether a pair that met in a block is worth a closer look.
    pub(crate) fn may_be_like(&self, other: &Self, block: &str) -> bool {
        match block.as_bytes().first() {
            Some(b'a') => self.capitals != other.capitals,
            Some(b'n') => self.is_near(other),
            _ => true,
        }
    }

    /// Words that say which of several things of a name it is: numbers above all.
    fn telling(&self) -> BTreeSet<&str> {
        let tells =
            |word: &&String| word.chars().any(|c| c.is_ascii_digit()) || holds(TELLING, word);
        self.tokens.iter().filter(tells).map(String::as_str).collect()
    }

    /// How this name is like another one of another form; `None` when it is not.
    pub(crate) fn like(&self, other: &Self) -> Option<NameSimilarity> {
        if self.telling() != other.telling() {
            return None;
        }
        match self.bracketed(other) {
            Bracketed::Same => return Some(NameSimilarity::Qualifier),
            Bracketed::Other => return None,
            Bracketed::Neither => {}
        }
        let long = !self.capitals && !other.capitals;
        if long && self.run == other.run {
            let joined = self.tokens.len() != other.tokens.len();
            return Some(if joined { NameSimilarity::Joined } else { NameSimilarity::Spelling });
        }
        let bare = self.bare_run == other.bare_run;
        if bare && self.bare.len() + other.bare.len() < self.tokens.len() + other.tokens.len() {
            let company = |t: &[String]| t.last().is_some_and(|t| holds(COMPANY, t));
            let corporate = company(&self.tokens) || company(&other.tokens);
            // A title alone before a single name says little: `King Henry`, `Henry`.
            return if corporate {
                Some(NameSimilarity::Company)
            } else {
                (self.personal() && other.personal()).then_some(NameSimilarity::Honorific)
            };
        }
        if self.capitals != other.capitals {
            let (short, long) = if self.capitals { (self, other) } else { (other, self) };
            if acronyms(&long.tokens).contains(&short.form) {
                return Some(NameSimilarity::Abbreviation);
            }
        }
        if self.personal()
            && other.personal()
            && let Some(similarity) = person(&self.bare, &other.bare)
        {
            return Some(similarity);
        }
        self.is_near(other).then_some(NameSimilarity::Near)
    }

    /// Whether a letter of a long word differs, or two in a long name. Initials, numbers and short
    /// words are never slips of the pen.
    fn is_near(&self, other: &Self) -> bool {
        let long = |word: &&String| word.chars().count() > 3;
        let differ = |(one, two): (&String, &String)| one == two || long(&one) && long(&two);
        self.tokens.len() == other.tokens.len()
            && self.tokens.iter().zip(&other.tokens).all(differ)
            && near(&self.form, &other.form)
    }

    fn bracketed(&self, other: &Self) -> Bracketed {
        match (&self.qualifier, &other.qualifier) {
            (Some((base, one)), Some((of, two))) if base == of && one != two => Bracketed::Other,
            (Some((base, _)), None) if *base == other.form => Bracketed::Same,
            (None, Some((base, _))) if *base == self.form => Bracketed::Same,
            _ => Bracketed::Neither,
        }
    }
}

/// What the brackets at the ends of two names say.
enum Bracketed {
    /// One has a bracket and is the other without it.
    Same,
    /// The brackets tell them apart.
    Other,
    Neither,
}

fn bare(tokens: &[String]) -> Vec<String> {
    let mut bare = tokens;
    while let [first, rest @ ..] = bare
        && !rest.is_empty()
        && holds(HONORIFICS, first)
    {
        bare = rest;
    }
    while let [rest @ .., last] = bare
        && !rest.is_empty()
        && (holds(COMPANY, last) || (bare.len() < tokens.len() && last == "and"))
    {
        bare = rest;
    }
    bare.to_vec()
}

/// Spellings of the same words that often stand for each other, run together.
fn skeleton(tokens: &[String]) -> String {
    let mut run = tokens.concat();
    for (from, to) in
        [("ae", "a"), ("oe", "o"), ("ue", "u"), ("isation", "ization"), ("our", "or"), ("ph", "f")]
    {
        run = run.replace(from, to);
    }
    run
}

/// Given names that fit each other under the same last name.
fn person(one: &[String], two: &[String]) -> Option<NameSimilarity> {
    let ([given_one @ .., last_one], [given_two @ .., last_two]) = (one, two) else { return None };
    if last_one != last_two || given_one.is_empty() || given_two.is_empty() {
        return None;
    }
    let (one, two) = (spread(given_one, given_two), spread(given_two, given_one));
    let fits = |a: &str, b: &str| a == b || (initial(a) || initial(b)) && a[..1] == b[..1];
    if !one[0].is_ascii() || !two[0].is_ascii() || !fits(one[0], two[0]) {
        return None;
    }
    let initials = initial(one[0]) != initial(two[0]);
    let (short, long) = if one.len() <= two.len() { (&one, &two) } else { (&two, &one) };
    if short.len() == long.len() {
        let all = short.iter().zip(long).all(|(a, b)| a.is_ascii() && b.is_ascii() && fits(a, b));
        return all.then_some(match (initials, short.len()) {
            (true, 1) => NameSimilarity::OneInitial,
            (true, _) => NameSimilarity::Initials,
            (false, _) => NameSimilarity::MiddleName,
        });
    }
    // The middle names of the shorter one stand among those of the longer one, in order.
    let mut rest = long[1..].iter();
    let within =
        short[1..].iter().all(|a| a.is_ascii() && rest.any(|b| b.is_ascii() && fits(a, b)));
    within.then_some(if initials {
        NameSimilarity::OneInitial
    } else {
        NameSimilarity::MissingMiddle
    })
}

fn initial(token: &str) -> bool {
    token.len() == 1
}

/// Initials that were written together, letter by letter where they fit the other's names so.
fn spread<'a>(given: &'a [String], other: &[String]) -> Vec<&'a str> {
    let mut spread = vec![];
    for (i, token) in given.iter().enumerate() {
        let written_out = other.len() > i && other[i].len() > token.len();
        let together = i == 0 && (2..=4).contains(&token.len()) && token.is_ascii() && written_out;
        let of_other: String = other.iter().filter_map(|name| name.chars().next()).collect();
        if together && of_other == *token {
            spread.extend((0..token.len()).map(|at| &token[at..=at]));
        } else {
            spread.push(token.as_str());
        }
    }
    spread
}

fn near(one: &str, two: &str) -> bool {
    let (first, second) = (one.chars().count(), two.chars().count());
    let max_edits = match first.min(second) {
        0..8 => return false,
        8..16 => 1,
        _ => 2,
    };
    first.abs_diff(second) <= max_edits && edit_distance(one, two) <= max_edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(one: &str, two: &str) -> Option<NameSimilarity> {
        let there = Name::new(one).like(&Name::new(two));
        assert_eq!(there, Name::new(two).like(&Name::new(one)), "{one} / {two}");
        if there.is_some() {
            let (one, two) = (Name::new(one).blocks(), Name::new(two).blocks());
            assert!(one.iter().any(|block| two.contains(block)), "{one:?} / {two:?}");
        }
        there
    }

    #[test]
    fn names_of_one_thing_are_alike_and_others_are_not() {
        for (one, two, expected) in [
            ("Gerd Müller", "Gerd Mueller", Some(NameSimilarity::Spelling)),
            ("Face Book", "Facebook", Some(NameSimilarity::Joined)),
            ("The Ford Motor Company", "Ford Motor Co.", Some(NameSimilarity::Company)),
            ("Sir Winston Churchill", "Winston Churchill", Some(NameSimilarity::Honorific)),
            ("King Henry", "Henry", None),
            ("President of Cuba", "Governor of Cuba", None),
            ("John F. Kennedy", "John Fitzgerald Kennedy", Some(NameSimilarity::MiddleName)),
            ("John F. Kennedy", "John Kennedy", Some(NameSimilarity::MissingMiddle)),
            ("J.R.R. Tolkien", "John Ronald Reuel Tolkien", Some(NameSimilarity::Initials)),
            ("J. Smith", "John Smith", Some(NameSimilarity::OneInitial)),
            ("John Smith", "Jane Smith", None),
            ("John A. Smith", "John B. Smith", None),
            ("Jaws (film)", "Jaws", Some(NameSimilarity::Qualifier)),
            ("Jaws (film)", "Jaws (novel)", None),
            ("WHO", "World Health Organization", Some(NameSimilarity::Abbreviation)),
            ("Stephen Spielberg", "Stephan Spielberg", Some(NameSimilarity::Near)),
            ("World War I", "World War II", None),
            ("North Korea", "South Korea", None),
            ("2004 Olympics", "2008 Olympics", None),
            ("George Bush Sr.", "George Bush", None),
            ("Paris", "Parts", None),
        ] {
            assert_eq!(like(one, two), expected, "{one} / {two}");
        }
    }
}
