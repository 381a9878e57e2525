"""A further version goes on top of the repository that docs/guides/swift-app.md has laid out; the same one does not."""

import subprocess


def lay_out(folder, version):
    return subprocess.run(
        ["lenticular/Clients/Swift/lay-out", folder, version], capture_output=True, text=True)


def git(*words):
    return subprocess.run(
        ["git", "-C", "lenticular-client", *words], check=True, capture_output=True, text=True).stdout


def main():
    assert lay_out("lenticular-client", "0.1.1").returncode == 0
    assert git("tag").split() == ["0.1.0", "0.1.1"], git("tag")
    assert git("rev-parse", "0.1.1^{commit}") == git("rev-parse", "HEAD")
    assert git("diff", "0.1.0", "0.1.1") == "" == git("status", "--porcelain")
    assert "Package.swift\n" in git("ls-files") and "LICENSE\n" in git("ls-files")
    for folder, version, words in [
        ("lenticular-client", "0.1.1", "has a version 0.1.1"), ("notes", "0.1.0", "neither empty"),
        ("new", "first", "usage:"),
    ]:
        refused = lay_out(folder, version)
        assert refused.returncode != 0 and words in refused.stderr, refused
    with open("lenticular-client/mine", "w", encoding="utf-8") as file:
        file.write("not committed")
    assert "not committed" in lay_out("lenticular-client", "0.1.2").stderr


main()
