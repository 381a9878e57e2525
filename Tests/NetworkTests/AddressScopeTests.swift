import Network
import Testing

@Suite("Which addresses are on the internet")
struct AddressScopeTests {
    private func isPublic(_ address: String) throws -> Bool {
        let found = try ResolvedAddress.resolve(host: address, port: 443)
        #expect(found.count == 1)
        return AddressScope.isPublic(try #require(found.first).bytes)
    }

    @Test(
        "Addresses of machines on the internet are",
        arguments: [
            "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255",
            "192.169.0.0", "169.253.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255",
            "2606:4700::1111", "2a00:1450:4001:81b::200e", "2001:200::1", "2003::1",
        ])
    func onTheInternet(address: String) throws {
        #expect(try isPublic(address))
    }

    @Test(
        "Loopback, private, link-local, carriers', unique-local, multicast and embedding addresses are not",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255",
            "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
            "192.0.0.1", "192.0.2.1", "192.168.0.1", "192.168.255.255", "198.18.0.1",
            "198.19.255.255", "198.51.100.7", "203.0.113.7", "192.88.99.1", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255",
            // The same in forms that a name's look-up takes.
            "127.1", "0x7f.0.0.1", "2130706433", "017700000001", "10.1",
            "::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "64:ff9b::8.8.8.8",
            "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1",
            "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
            "5f00::1", "4000::1", "1fff::1",
        ])
    func elsewhere(address: String) throws {
        #expect(try !isPublic(address))
    }

    @Test("What is no address of 4 or 16 bytes is not")
    func lengths() {
        for count in [0, 1, 3, 5, 15, 17] {
            #expect(!AddressScope.isPublic([UInt8](repeating: 8, count: count)))
        }
    }
}
