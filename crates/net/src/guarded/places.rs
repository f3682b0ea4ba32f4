//! Which addresses belong to the machine or its network, and not to the internet.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Network, length of its prefix, what it is.
type Range<A> = (A, u32, &'static str);

/// The registries of special-purpose addresses (RFC 6890 and its updates).
const V4: &[Range<Ipv4Addr>] = &[
    (Ipv4Addr::UNSPECIFIED, 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a provider's customers"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// Where IPv4 addresses are reached through a translator (RFC 6052): each is what the one in its
/// last bits is.
const TRANSLATED: Range<Ipv6Addr> = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "");

/// All other global addresses are in this network; what is not is refused unseen.
const V6_GLOBAL: Range<Ipv6Addr> = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, "");

const V6: &[Range<Ipv6Addr>] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "this network"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "unique-local"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
    // Teredo, ORCHID, benchmarks: all for protocols.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "for protocols"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    // What it reaches is an IPv4 address that is part of it.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "a tunnel to an IPv4 address"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

/// What an address inside the machine or its network is; `None` for those outside.
pub(super) fn inside(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => find(V4, |net, bits| within_v4(address, net, bits)),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => inside(mapped.into()).or(Some("an IPv4 address in disguise")),
            None if within_v6(address, TRANSLATED.0, TRANSLATED.1) => {
                let [.., a, b, c, d] = address.octets();
                inside(Ipv4Addr::new(a, b, c, d).into())
            }
            None => find(V6, |net, bits| within_v6(address, net, bits)).or_else(|| {
                let (net, bits, _) = V6_GLOBAL;
                (!within_v6(address, net, bits)).then_some("reserved")
            }),
        },
    }
}

fn find<A: Copy>(ranges: &[Range<A>], within: impl Fn(A, u32) -> bool) -> Option<&'static str> {
    ranges.iter().find(|(net, bits, _)| within(*net, *bits)).map(|(_, _, what)| *what)
}

fn within_v4(address: Ipv4Addr, net: Ipv4Addr, bits: u32) -> bool {
    (address.to_bits() ^ net.to_bits()) >> (32 - bits) == 0
}

fn within_v6(address: Ipv6Addr, net: Ipv6Addr, bits: u32) -> bool {
    (address.to_bits() ^ net.to_bits()) >> (128 - bits) == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn what(address: &str) -> Option<&'static str> {
        inside(address.parse().unwrap())
    }

    #[test]
    fn addresses_of_the_machine_and_its_network_are_known() {
        for address in [
            "0.0.0.0",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.250",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(what(address).is_some(), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_world_are_let_through() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "223.255.255.255",
            "64:ff9b::8.8.8.8",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450::1",
        ] {
            assert_eq!(what(address), None, "{address}");
        }
    }

    proptest! {
        /// The standard library's own notions are a part of ours.
        #[test]
        fn whatever_std_calls_special_is_refused(v4: u32, v6: u128) {
            let v4 = Ipv4Addr::from_bits(v4);
            let special = v4.is_private() || v4.is_loopback() || v4.is_link_local()
                || v4.is_broadcast() || v4.is_documentation() || v4.is_multicast()
                || v4.is_unspecified();
            prop_assert!(!special || inside(v4.into()).is_some());
            prop_assert!(inside(v4.to_ipv6_mapped().into()).is_some());
            let v6 = Ipv6Addr::from_bits(v6);
            let special = v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast();
            prop_assert!(!special || inside(v6.into()).is_some());
        }
    }
}
