"""What pyproject.toml cannot say: beside the package there is a file that looks at MEMTILE_IRON."""

import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithSwitch(build_py):
    """Builds the package, and adds the file by which each Python process looks at the variable."""

    def run(self):
        """Build."""
        super().run()
        if not self.editable_mode:
            shutil.copy("memtile_iron.pth", self.build_lib)


setup(cmdclass={"build_py": BuildWithSwitch})
