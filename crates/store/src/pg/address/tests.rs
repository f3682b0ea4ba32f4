//! Addresses: what is read from them, what they show, and what is wrong with bad ones.
use super::*;

fn parse(text: &str) -> Result<Address, PgError> {
    Address::parse_with(text, &|name| (name == "USER").then(|| "ann".to_owned()))
}

#[track_caller]
fn good(text: &str) -> Address {
    parse(text).unwrap()
}

#[track_caller]
fn complaint(text: &str) -> String {
    let error = parse(text).unwrap_err().to_string();
    assert!(!error.contains("secret"), "{error}");
    error
}

#[test]
fn an_address_shows_everything_but_the_password() {
    let address = good("postgres://bob:secret@db.example.org/halma?workspace=law&keys=/etc/keys");
    assert_eq!(address.to_string(), "postgres://bob@db.example.org:5432/halma?workspace=law");
    assert!(!format!("{address:?}").contains("secret"));
    assert_eq!(address.keys(), Some(Path::new("/etc/keys")));
    assert_eq!(address.config.get_password(), Some(b"secret".as_slice()));
}

#[test]
fn what_is_missing_has_a_default() {
    let address = good("postgresql://localhost/halma");
    assert_eq!((address.workspace(), address.pool), ("default", 16));
    assert_eq!(address.config.get_user(), Some("ann"));
}

#[test]
fn a_socket_is_named_by_its_folder() {
    let address = good("postgres:///halma?host=/run/postgresql&port=5433");
    assert_eq!(address.to_string(), "postgres://ann@/run/postgresql:5433/halma?workspace=default");
    assert_eq!(address.tls, Tls::Off);
}

#[test]
fn the_identity_does_not_depend_on_who_connects_and_how() {
    let one = good("postgres://a:b@one:5432,two/db?workspace=law&pool=4").identity();
    assert_eq!(one.len(), 16);
    assert_eq!(one, good("postgres://two,ONE/db?workspace=law&sslmode=disable").identity());
    assert_ne!(one, good("postgres://one,two/db?workspace=tax").identity());
    assert_ne!(one, good("postgres://one,two/other?workspace=law").identity());
}

#[test]
fn connections_to_other_machines_are_enciphered() {
    assert_eq!(good("postgres://db.example.org/db").tls, Tls::Verified(None));
    assert_eq!(good("postgres://127.0.0.1/db").tls, Tls::Off);
    assert_eq!(good("postgres://db.example.org/db?sslmode=disable").tls, Tls::Off);
    let roots = good("postgres://localhost/db?sslrootcert=ca.pem").tls;
    assert_eq!(roots, Tls::Verified(Some(PathBuf::from("ca.pem"))));
    assert!(complaint("postgres://h/db?sslmode=prefer").contains("sslmode=require"));
    assert!(complaint("postgres://h/db?sslmode=on").contains("`disable` or `require`"));
}

#[test]
fn what_is_wrong_is_named_with_what_to_do() {
    let bad = [
        ("mysql://u:secret@h/db", "begins with `mysql://` and not with `postgres://`"),
        ("u:secret@h/db", "does not begin with"),
        ("u:secret://h/db", "does not begin with"),
        ("postgres:///db", "names no host"),
        ("postgres://u:secret@h", "names no database"),
        ("postgres://u:secret@h/db?workspace=", "cannot be a name"),
        ("postgres://u:secret@h/db?pool=0", "from 2 to 1000"),
        ("postgres://u:secret@h/db?keys=", "empty `keys`"),
        ("postgres://u:secret@h/db?keys=my/keys", "relative path"),
        ("postgres://u:secret@h/db?wrkspace=x", "wrkspace"),
        ("postgres://u:secret@h:port/db", "is not valid"),
    ];
    for (address, expected) in bad {
        let complaint = complaint(address);
        assert!(complaint.contains(expected), "{address}: {complaint}");
    }
}
